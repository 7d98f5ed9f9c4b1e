import type { IncomingMessage, ServerResponse } from 'node:http';
import { JsonError, parseJson } from '../json/json.ts';
import { LIMITS } from '../limits.ts';
import { readBody } from './read-body.ts';
import { readScript, ScriptError } from './script.ts';
import type { ScriptOptions } from './script-queue.ts';
import type { Sim } from './sim-handle.ts';

/** Control calls for a test in another process; the same verbs as in process. */
type Verb = (sim: Sim, ask: Record<string, unknown>) => unknown;

const VERBS: Record<string, Verb> = {
  'GET /sim/health': () => ({ ok: true }),
  'GET /sim/calls': (sim) => ({
    received: sim.received(),
    open_connections: sim.openConnections(),
    open_responses: sim.openResponses(),
    calls: sim.calls,
  }),
  'POST /sim/script': (sim, ask) => {
    expectOnly(ask, ['script', 'times', 'model']);
    sim.script(ask.script === null ? null : readScript(ask.script), readOptions(ask));
    return { ok: true };
  },
  'POST /sim/release': (sim, ask) => {
    expectOnly(ask, ['gate', 'count']);
    sim.release(readName(ask, 'gate'), readCount(ask, 'count') ?? 1);
    return { ok: true };
  },
  'POST /sim/wait': async (sim, ask) => {
    expectOnly(ask, ['calls', 'gate', 'waiting']);
    const calls = readCount(ask, 'calls');
    if (calls !== undefined) await sim.waitForCalls(calls);
    if (ask.gate !== undefined) await sim.waitForGate(readName(ask, 'gate'), readCount(ask, 'waiting') ?? 1);
    return { ok: true };
  },
  'POST /sim/reset': (sim) => {
    sim.reset();
    return { ok: true };
  },
};

export function isControl(request: IncomingMessage): boolean {
  return request.url?.startsWith('/sim/') === true;
}

/** Host names of this machine. A web page with a rebound DNS name must not control the simulator. */
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i;

function isForeign({ headers }: IncomingMessage): boolean {
  return headers.origin !== undefined || !LOOPBACK.test(headers.host ?? '');
}

export function handleControl(request: IncomingMessage, response: ServerResponse, sim: Sim): void {
  if (isForeign(request)) {
    const words = 'Control requests are accepted only from this machine: call 127.0.0.1, without an Origin header.';
    sendJson(response, 403, errorBody('forbidden_host', words));
    return;
  }
  const verb = VERBS[`${request.method} ${request.url}`];
  readBody(request, LIMITS.simRequestBytesMax, ignoreBytes, (body) => {
    if (verb === undefined) return sendJson(response, 404, errorBody('unknown_url', 'No such control call.'));
    run(verb, sim, body ?? '').then(
      (answer) => sendJson(response, 200, answer),
      (error: unknown) => sendJson(response, 400, describeError(error)),
    );
  });
}

function ignoreBytes(): void {}

async function run(verb: Verb, sim: Sim, body: string): Promise<unknown> {
  const ask = body === '' ? {} : parseJson(body);
  if (typeof ask !== 'object' || ask === null || Array.isArray(ask))
    throw new TypeError('The body of a control request must be a JSON object.');
  return await verb(sim, ask as Record<string, unknown>);
}

function sendJson(response: ServerResponse, status: number, answer: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(answer));
}

function describeError(error: unknown): unknown {
  if (error instanceof ScriptError) return errorBody(error.code, error.message, error.param);
  if (error instanceof JsonError) return errorBody('invalid_json', error.message);
  return errorBody('invalid_control_call', error instanceof Error ? error.message : String(error));
}

function errorBody(code: string, message: string, param: string | null = null): unknown {
  return { error: { message, type: 'invalid_request_error', param, code } };
}

function expectOnly(ask: Record<string, unknown>, names: readonly string[]): void {
  const stranger = Object.keys(ask).find((name) => !names.includes(name));
  if (stranger !== undefined)
    throw new TypeError(`Unknown member '${stranger}'. Allowed members: ${names.join(', ')}.`);
}

function readOptions(ask: Record<string, unknown>): ScriptOptions {
  const times = readCount(ask, 'times');
  const model = ask.model === undefined ? undefined : readName(ask, 'model');
  return { ...(times === undefined ? {} : { times }), ...(model === undefined ? {} : { model }) };
}

function readName(ask: Record<string, unknown>, name: string): string {
  const value = ask[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new TypeError(`'${name}' must be a non-empty string.`);
}

function readCount(ask: Record<string, unknown>, name: string): number | undefined {
  const value = ask[name];
  if (value === undefined) return undefined;
  if (Number.isSafeInteger(value) && (value as number) >= 1) return value as number;
  throw new TypeError(`'${name}' must be a whole number from 1.`);
}
