import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Refusal {
  readonly kind: 'status';
  readonly status: number;
  readonly code?: string;
  /** Whether the response says `x-should-retry: false`. */
  readonly final?: true;
  readonly cost?: bigint;
}

/** How the gateway treats a request; `cost` is charged whatever the client sees of it. */
export type Behaviour =
  | Refusal
  | { readonly kind: 'answer'; readonly cost?: bigint }
  /** The connection is reset before the response; the call may still run. */
  | { readonly kind: 'reset'; readonly cost?: bigint; readonly runs?: true }
  /** The response begins and is cut off: within a JSON body, or before the first content of a stream. */
  | { readonly kind: 'cut'; readonly cost?: bigint }
  | { readonly kind: 'error event'; readonly code?: string; readonly type?: string; readonly cost?: bigint }
  /** A stream fails after its first content. */
  | { readonly kind: 'late error' | 'late cut'; readonly cost?: bigint };

export interface SeenRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly chain: string | null;
  readonly firstModel: string | null;
  readonly key: string | null;
  readonly ceiling: bigint | null;
  /** As it was sent. */
  readonly ceilingText: string | null;
}

interface Row {
  readonly id: string;
  readonly request: SeenRequest;
  readonly cost: bigint;
  readonly runs: boolean;
}

/** A loopback server that plays the gateway: each model does what the test says, and all charges are remembered. */
export class FakeGateway {
  readonly requests: SeenRequest[] = [];
  readonly #server: Server;
  readonly #rows: Row[] = [];
  #behave: (request: SeenRequest) => Behaviour = () => ({ kind: 'answer' });

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<FakeGateway> {
    const gateway = new FakeGateway();
    await new Promise<void>((resolve) => gateway.#server.listen(0, '127.0.0.1', resolve));
    return gateway;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Forgets everything; from now on requests are treated like this. */
  play(behave: (request: SeenRequest) => Behaviour): void {
    this.#behave = behave;
    this.requests.length = 0;
    this.#rows.length = 0;
  }

  /** What was charged since `play`. */
  get charged(): bigint {
    return this.#rows.reduce((sum, { cost }) => sum + cost, 0n);
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, this.url);
    if (pathname === '/v1/receipts') {
      const chain = searchParams.get('chain');
      const found = this.#rows.filter((row) => row.request.chain?.split(';')[0] === chain);
      return sendJson(response, 200, {}, { object: 'list', data: found.map(view) });
    }
    if (pathname.startsWith('/v1/receipts/')) {
      const row = this.#rows.find(({ id }) => pathname.endsWith(`/${id}`));
      return row === undefined ? sendJson(response, 404, {}, {}) : sendJson(response, 200, {}, view(row));
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const seen = readRequest(request, JSON.parse(Buffer.concat(chunks).toString()));
    this.requests.push(seen);
    const behaviour = this.#behave(seen);
    const runs = behaviour.kind === 'reset' && behaviour.runs === true;
    // A call that was charged is not made again under its key: its stored response is sent.
    const charged = this.#rows.find(({ request: { key }, cost }) => key !== null && key === seen.key && cost > 0n);
    const row = charged ?? { id: `req_${this.requests.length}`, request: seen, cost: behaviour.cost ?? 0n, runs };
    if (charged === undefined) this.#rows.push(row);
    respond(response, row, behaviour);
  }
}

function readRequest({ headers }: IncomingMessage, body: { model: string; stream?: boolean }): SeenRequest {
  const header = (name: string) => (headers[name] as string | undefined) ?? null;
  const ceiling = header('x-gateway-max-cost-nanousd');
  return {
    model: body.model,
    stream: body.stream === true,
    chain: header('x-gateway-chain'),
    firstModel: header('x-gateway-requested-model'),
    key: header('idempotency-key'),
    ceiling: ceiling === null || !/^\d+$/.test(ceiling) ? null : BigInt(ceiling),
    ceilingText: ceiling,
  };
}

function view({ id, request, cost, runs }: Row): object {
  return {
    object: 'receipt',
    id,
    requested_model: request.firstModel ?? request.model,
    effective_model: request.model,
    cost_nanousd: runs ? null : Number(cost),
    held_nanousd: Number(cost),
    chain: request.chain,
    idempotency_key: request.key,
    components: null,
    usage: null,
    price_version: 'test',
  };
}

const ROLE = frame({ choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] });
const TEXT = frame({ choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: null }] });
const STOP = frame({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const DONE = 'data: [DONE]\n\n';

function frame(body: object): string {
  return `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', model: 'm', ...body })}\n\n`;
}

function errorFrame(code = 'host_failed', type = 'upstream_error'): string {
  return frame({ error: { message: 'It failed.', type, code, param: null } });
}

function respond(response: ServerResponse, row: Row, behaviour: Behaviour): void {
  if (behaviour.kind === 'reset') response.socket!.resetAndDestroy();
  else if (behaviour.kind === 'status') refuse(response, row, behaviour);
  else if (row.request.stream) sendStream(response, row, framesOf(behaviour), behaviour.kind.endsWith('cut'));
  else answer(response, row, behaviour.kind === 'cut');
}

function framesOf(behaviour: Behaviour): string {
  if (behaviour.kind === 'cut') return ROLE;
  if (behaviour.kind === 'error event') return ROLE + errorFrame(behaviour.code, behaviour.type);
  if (behaviour.kind === 'late error') return ROLE + TEXT + errorFrame();
  return ROLE + TEXT + (behaviour.kind === 'late cut' ? '' : STOP + DONE);
}

function identity({ id, request }: Row): Record<string, string> {
  return {
    'x-gateway-request-id': id,
    'x-gateway-requested-model': request.firstModel ?? request.model,
    'x-gateway-effective-model': request.model,
  };
}

function refuse(response: ServerResponse, row: Row, { status, code = 'some_code', final }: Refusal): void {
  const headers = {
    ...identity(row),
    'x-gateway-cost-nanousd': String(row.cost),
    ...(final === true ? { 'x-should-retry': 'false' } : {}),
    ...(status === 429 ? { 'retry-after': '1' } : {}),
  };
  sendJson(response, status, headers, {
    error: { message: `Status ${status}.`, type: 'some_type', code, param: null },
  });
}

function answer(response: ServerResponse, row: Row, isCut: boolean): void {
  const message = { role: 'assistant', content: 'Hello' };
  const body = { id: 'x', model: row.request.model, choices: [{ index: 0, message, finish_reason: 'stop' }] };
  const headers = { ...identity(row), 'x-gateway-cost-nanousd': String(row.cost) };
  if (!isCut) {
    sendJson(response, 200, headers, body);
    return;
  }
  const text = JSON.stringify(body);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length, ...headers });
  response.write(text.slice(0, 10), () => response.socket!.destroy());
}

function sendStream(response: ServerResponse, row: Row, frames: string, isCut: boolean): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', ...identity(row) });
  if (isCut) response.write(frames, () => response.socket!.destroy());
  else response.end(frames);
}

function sendJson(response: ServerResponse, status: number, headers: Record<string, string>, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
