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
  readonly model: string;
  requestId: string | null;
  /** The cost as the client read it, once the terminal byte had arrived. */
  costNanousd: bigint | null;
}

/** A piece of a response arrived, or its last byte. */
export type LoadEvent = 'piece' | 'terminal';

interface LoadTerms {
  readonly url: string;
  readonly keys: readonly Key[];
  readonly clients: number;
  /** Whether a client whose call is answered makes another one. */
  readonly repeat: boolean;
  /** Makes labels unique across loads. */
  readonly name: string;
  /** No client makes another call once there were this many; absent: no limit. */
  readonly callsMax?: number;
  /** How long a client waits after a call that was not answered in full; absent: not at all. */
  readonly failurePauseMs?: number;
  script(stream: boolean, client: number): SimScript;
  /** The model that a client calls; absent: the one of `configOf`. */
  model?(client: number): string;
  /** Called in the same turn in which the bytes arrived. */
  onEvent(event: LoadEvent): void;
  /** A call is over, however it ended. */
  onClosed?(call: ClientCall): void;
}

/** Concurrent clients, every other one streaming, each on connections of its own. */
export class Load {
  readonly calls: ClientCall[] = [];
  /** Complete responses that were not successful, or that contradict themselves. */
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
    const { repeat, callsMax = Number.POSITIVE_INFINITY, failurePauseMs } = this.#terms;
    do {
      const { costNanousd } = await this.#call(client);
      if (costNanousd === null && failurePauseMs !== undefined && !this.#over) await pause(failurePauseMs);
    } while (repeat && !this.#over && this.calls.length < callsMax);
  }

  async #call(client: number): Promise<ClientCall> {
    const { keys, name, onClosed } = this.#terms;
    const label = `${name}-${this.calls.length}`;
    const key = keys[client % keys.length]!;
    const model = this.#terms.model?.(client) ?? MODEL;
    const call: ClientCall = { label, key, stream: client % 2 === 0, model, requestId: null, costNanousd: null };
    this.calls.push(call);
    this.#underWay.add(call);
    const sent = this.#send(call, client);
    sent.on('response', (response) => this.#read(response, call));
    sent.on('error', () => {});
    await new Promise((done) => sent.once('close', done));
    this.#underWay.delete(call);
    onClosed?.(call);
    return call;
  }

  #send({ key, label, stream, model }: ClientCall, client: number): ClientRequest {
    const usage = stream ? { stream: true, stream_options: { include_usage: true } } : {};
    const messages = [{ role: 'user', content: `What does ticket ${label} cost?` }];
    const body = JSON.stringify({
      model,
      messages,
      ...usage,
      user: label,
      max_tokens: 100,
      sim: this.#terms.script(stream, client),
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
    const isStream = call.stream && response.statusCode === 200;
    const isWhole = isStream
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
    try {
      call.costNanousd = call.stream ? costOfStream(text) : costOfAnswer(response, text);
    } catch (error) {
      this.refusals.push(`${call.label}: ${String(error)}`);
      return;
    }
    this.#underWay.delete(call);
    this.#terms.onEvent('terminal');
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
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
