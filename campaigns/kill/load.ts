import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { SimScript } from '../../src/sim/sim.ts';
import { type ChatUsage, countsOf, priceCounts } from '../../test/catalog-price.ts';
import { eventsOf } from '../../test/raw-client.ts';
import { type Key, MODEL, PRICING } from './world.ts';

/** One call as its client saw it. */
export interface ClientCall {
  /** Sent as `user`, to identify its receipt. */
  readonly label: string;
  readonly key: Key;
  readonly stream: boolean;
  requestId: string | null;
  /** The cost as the client read it, once the terminal byte had arrived. */
  costNanousd: bigint | null;
}

/** A piece of a response arrived, or its last byte. */
export type LoadEvent = 'piece' | 'terminal';

export interface LoadTerms {
  readonly url: string;
  readonly keys: readonly Key[];
  readonly clients: number;
  /** Whether a client whose call is answered makes another one. */
  readonly repeat: boolean;
  /** Makes labels unique across loads. */
  readonly name: string;
  script(stream: boolean): SimScript;
  /** Called in the same turn in which the bytes arrived. */
  onEvent(event: LoadEvent): void;
}

/** Concurrent clients, every other one streaming, each on connections of its own. */
export class Load {
  readonly calls: ClientCall[] = [];
  /** Complete responses that were not successful. */
  readonly refusals: string[] = [];
  /** Resolves when no client has a running call or will make another. */
  readonly finished: Promise<unknown>;
  readonly #terms: LoadTerms;
  readonly #underWay = new Set<ClientCall>();
  #over = false;

  constructor(terms: LoadTerms) {
    this.#terms = terms;
    this.finished = Promise.all(Array.from({ length: terms.clients }, (_, client) => this.#work(client)));
  }

  /** Calls that were sent and whose last byte has not arrived. */
  get underWay(): ReadonlySet<ClientCall> {
    return this.#underWay;
  }

  /** Starts no new calls from now on. */
  cease(): void {
    this.#over = true;
  }

  async #work(client: number): Promise<void> {
    do await this.#call(client);
    while (this.#terms.repeat && !this.#over);
  }

  async #call(client: number): Promise<void> {
    const { keys, name } = this.#terms;
    const label = `${name}-${this.calls.length}`;
    const key = keys[client % keys.length]!;
    const call: ClientCall = { label, key, stream: client % 2 === 0, requestId: null, costNanousd: null };
    this.calls.push(call);
    this.#underWay.add(call);
    const sent = this.#send(call);
    sent.on('response', (response) => this.#read(response, call));
    sent.on('error', () => {});
    await new Promise((done) => sent.once('close', done));
    this.#underWay.delete(call);
  }

  #send({ key, label, stream }: ClientCall): ClientRequest {
    const usage = stream ? { stream: true, stream_options: { include_usage: true } } : {};
    const messages = [{ role: 'user', content: `What does ticket ${label} cost?` }];
    const body = JSON.stringify({
      model: MODEL,
      messages,
      ...usage,
      user: label,
      max_tokens: 100,
      sim: this.#terms.script(stream),
    });
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key.secret}` };
    const sent = request(`${this.#terms.url}/v1/chat/completions`, { method: 'POST', headers, agent: false });
    sent.end(body);
    return sent;
  }

  #read(response: IncomingMessage, call: ClientCall): void {
    let text = '';
    call.requestId = String(response.headers['x-gateway-request-id']);
    response.setEncoding('utf8');
    response.on('error', () => {});
    response.on('data', (piece: string) => {
      text += piece;
      this.#take(response, call, text);
    });
  }

  #take(response: IncomingMessage, call: ClientCall, text: string): void {
    if (call.costNanousd !== null) return;
    const isWhole = call.stream
      ? text.endsWith('data: [DONE]\n\n')
      : Buffer.byteLength(text) === Number(response.headers['content-length']);
    if (!isWhole) {
      this.#terms.onEvent('piece');
      return;
    }
    if (response.statusCode !== 200) {
      this.refusals.push(`${call.label}: ${response.statusCode} ${text}`);
      return;
    }
    call.costNanousd = call.stream ? costOfStream(text) : costOfAnswer(response, text);
    this.#underWay.delete(call);
    this.#terms.onEvent('terminal');
  }
}

/** A stream names no cost: it is computed from its usage and the public catalog. */
function costOfStream(text: string): bigint {
  const chunks = eventsOf(text).filter((data) => data !== '[DONE]');
  const usage = chunks
    .map((data) => (JSON.parse(data) as { usage?: ChatUsage | null }).usage)
    .find((one) => one != null);
  if (usage === undefined) throw new Error(`A stream ended without the usage it was asked for: ${text}`);
  return priceCounts(PRICING, countsOf(usage)).total;
}

function costOfAnswer(response: IncomingMessage, text: string): bigint {
  const said = BigInt(String(response.headers['x-gateway-cost-nanousd']));
  const { usage } = JSON.parse(text) as { usage: ChatUsage & { cost_nanousd: number } };
  if (said !== BigInt(usage.cost_nanousd)) throw new Error(`Header and body disagree on the cost: ${said}, ${text}`);
  return said;
}
