import type { IncomingMessage, ServerResponse } from 'node:http';
import { tryParseJson } from '../json/json.ts';
import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import type { CallLog, SimCall } from './calls.ts';
import { deliver } from './delivery.ts';
import { isFields } from './fields.ts';
import type { Gates } from './gates.ts';
import { answerModels } from './models.ts';
import { readBody } from './read-body.ts';
import { jsonReply, type Refusal, RefusedRequest, type Reply, type SimHost, type SimWire } from './reply.ts';
import { ResponseWriter } from './response-writer.ts';
import { mergeScripts, NO_FAULTS, readScript, ScriptError, type SimScript } from './script.ts';
import type { ScriptQueue } from './script-queue.ts';
import { plainWire, WIRES } from './wires/index.ts';

interface UpstreamParts {
  readonly log: CallLog;
  readonly gates: Gates;
  readonly scripts: ScriptQueue;
  readonly host: SimHost;
  readonly clock: Clock;
}

/** Plays the vendor: handles every path except the control calls. */
export class Upstream {
  readonly #parts: UpstreamParts;
  readonly #writers = new Set<ResponseWriter>();
  #idleWatchers: (() => void)[] = [];

  constructor(parts: UpstreamParts) {
    this.#parts = parts;
  }

  get openResponses(): number {
    return this.#writers.size;
  }

  whenIdle(tell: () => void): void {
    this.#idleWatchers.push(tell);
    this.#tellIdleWatchers();
  }

  /** Ends every open response at once. */
  severAll(): void {
    for (const writer of [...this.#writers]) {
      writer.sever();
      this.#forget(writer);
    }
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const call = this.#parts.log.open(request);
    const writer = new ResponseWriter(response, call, (closed) => this.#forget(closed));
    this.#writers.add(writer);
    const countBytes = (count: number) => {
      call.bytesReceived += count;
    };
    readBody(request, LIMITS.simRequestBytesMax, countBytes, (body) => this.#answer(call, body, writer));
  }

  #forget(writer: ResponseWriter): void {
    this.#writers.delete(writer);
    this.#tellIdleWatchers();
  }

  #tellIdleWatchers(): void {
    if (this.#writers.size > 0 || this.#idleWatchers.length === 0) return;
    const watchers = this.#idleWatchers;
    this.#idleWatchers = [];
    for (const tell of watchers) tell();
  }

  #answer(call: SimCall, body: string | null, writer: ResponseWriter): void {
    const { log, gates, clock } = this.#parts;
    const parsed = body === null || body === '' ? undefined : tryParseJson(body);
    call.model = modelOf(parsed);
    log.receive(call, body ?? '');
    const { reply, script } = body === null ? this.#refuseLarge(call) : this.#replyTo(call, parsed);
    deliver(reply, script, writer, gates, clock)?.catch(() => writer.sever());
  }

  #refuseLarge(call: SimCall): ScriptedReply {
    const wire = WIRES.get(pathOf(call)) ?? plainWire;
    return { reply: wire.refuse(TOO_LARGE, this.#parts.host), script: NO_FAULTS };
  }

  #replyTo(call: SimCall, body: unknown): ScriptedReply {
    const path = pathOf(call);
    const wire = call.method === 'POST' ? WIRES.get(path) : undefined;
    if (wire !== undefined) return this.#speak(wire, call, body);
    const models = call.method === 'GET' ? answerModels(path, call.headers) : null;
    return { reply: models ?? unknownUrl(call.method, path, this.#parts.host), script: NO_FAULTS };
  }

  #speak(wire: SimWire, call: SimCall, body: unknown): ScriptedReply {
    let script = this.#parts.scripts.take(call.model);
    try {
      if (!isFields(body)) return { reply: wire.refuse(NOT_AN_OBJECT, this.#parts.host), script };
      if (body.sim !== undefined) script = mergeScripts(script, readScript(body.sim));
      return { reply: this.#perform(wire, call, body, script), script };
    } catch (error) {
      return { reply: wire.refuse(refusalOf(error), this.#parts.host), script };
    }
  }

  #perform(wire: SimWire, call: SimCall, body: Record<string, unknown>, script: SimScript): Reply {
    const { host } = this.#parts;
    const { status = 200, headers, raw } = script;
    if (script === NO_FAULTS) return wire.answer(body, script, host, call.headers);
    const reply =
      raw !== undefined
        ? rawReply(raw)
        : status < 300
          ? wire.answer(body, script, host, call.headers)
          : failWith(wire, script, status, host);
    return { ...reply, status, headers: { ...reply.headers, ...lowerNames(headers ?? {}) } };
  }
}

interface ScriptedReply {
  readonly reply: Reply;
  readonly script: SimScript;
}

function failWith(wire: SimWire, script: SimScript, status: number, host: SimHost): Reply {
  const usual = wire.refuse(wire.fail(status), host);
  if (script.errorBody === undefined) return usual;
  const body = typeof script.errorBody === 'string' ? script.errorBody : JSON.stringify(script.errorBody);
  return { ...usual, chunks: [body] };
}

function rawReply(raw: { contentType: string; base64: string }): Reply {
  return {
    status: 200,
    headers: { 'content-type': raw.contentType },
    chunks: [Buffer.from(raw.base64, 'base64')],
    streamed: raw.contentType.startsWith('text/event-stream'),
  };
}

function lowerNames(headers: Record<string, string | string[]>): Record<string, string | string[]> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function invalid(status: number, code: string | null, param: string | null, message: string): Refusal {
  return { status, message, type: 'invalid_request_error', code, param };
}

const NOT_AN_OBJECT = invalid(
  400,
  null,
  null,
  'We could not parse the JSON body of your request: expected a JSON object.',
);
const TOO_LARGE = invalid(413, null, null, `The body is larger than ${LIMITS.simRequestBytesMax} bytes.`);

function pathOf(call: SimCall): string {
  return call.path.split('?', 1)[0]!;
}

function unknownUrl(method: string, path: string, host: SimHost): Reply {
  if (method === 'HEAD' && path === '/') return jsonReply(200, '');
  return plainWire.refuse(invalid(404, 'unknown_url', null, `Invalid URL (${method} ${path})`), host);
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof RefusedRequest) return error.refusal;
  if (error instanceof ScriptError) return invalid(400, error.code, error.param, error.message);
  return {
    ...invalid(500, 'simulator_bug', null, `The simulator itself failed: ${String(error)}`),
    type: 'server_error',
  };
}

function modelOf(body: unknown): string | null {
  return isFields(body) && typeof body.model === 'string' ? body.model : null;
}
