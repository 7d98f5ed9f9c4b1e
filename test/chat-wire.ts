import { GatewayError } from '../src/canonical/errors.ts';
import { ZERO_USAGE } from '../src/canonical/usage.ts';
import { type JsonText, scanJson } from '../src/json/json.ts';
import { SseFramer } from '../src/kit/sse.ts';
import { LIMITS } from '../src/limits.ts';
import type { Bill } from '../src/wires/bill.ts';
import type { RelayTerms, StreamRelay, UpstreamTerms } from '../src/wires/wire.ts';

/** What several tests of the chat wire share. */

type Fields = Record<string, unknown>;

export const ASK = { model: 'bridge', messages: [{ role: 'user', content: 'Hello' }] };

export function jsonText(body: unknown): JsonText {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return scanJson(Buffer.from(text), {
    depthMax: LIMITS.jsonDepthMax,
    nodesMax: LIMITS.jsonNodesMax,
    keysMax: LIMITS.jsonKeysMax,
    numberDigitsMax: LIMITS.jsonNumberDigitsMax,
    keyBytesMax: LIMITS.jsonKeyBytesMax,
  });
}

export const RELAY_TERMS: RelayTerms = {
  catalogModel: 'bridge',
  requestId: 'req_1',
  createdS: 1_700_000_000,
  nowS: () => 1_700_000_000,
  wantsUsageFrame: true,
  hideReasoning: false,
  request: null,
  quirks: {},
};

export const UPSTREAM_TERMS: UpstreamTerms = {
  hostModel: 'bridge',
  outputLimit: 4096,
  outputLimitField: 'max_completion_tokens',
  forwards: [],
  reasoningEffort: null,
  reducesVectors: false,
};

export const BILL: Bill = {
  usage: { ...ZERO_USAGE, freshTokens: 7, outputTokens: 3 },
  costNanousd: 9_007_199_254_740_993n,
  costUsd: 9_007_199.254740993,
  components: null,
};

/** The error a call throws, as its name, field and message; fails if it throws none or another. */
export function refusalBy(call: () => unknown): { code: string | null; param: string | null; message: string } {
  try {
    call();
  } catch (error) {
    if (error instanceof GatewayError) return { code: error.code, param: error.param, message: error.message };
    throw error;
  }
  throw new Error('Nothing was refused.');
}

/** A chunk as most hosts send it; choices and other members as given. */
export function chunk(choices: unknown, more: Fields = {}): Fields {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'bridge',
    choices,
    ...more,
  };
}

export function delta(members: Fields, finish: unknown = null, index: unknown = 0): Fields {
  return { index, delta: members, logprobs: null, finish_reason: finish };
}

/** Events of a stream: objects become JSON, strings are sent as they are. */
export function sse(...events: readonly unknown[]): string {
  return events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('');
}

/** Feeds a host's bytes to a relay, in pieces, and returns what was sent to the client. */
export function feed(relay: StreamRelay, bytes: string | Buffer, piece = Number.POSITIVE_INFINITY): string {
  const all = Buffer.from(bytes);
  const pieces: Buffer[] = [];
  for (let at = 0; at < all.length; at += piece) pieces.push(all.subarray(at, at + piece));
  return feedPieces(relay, pieces);
}

export function feedPieces(relay: StreamRelay, pieces: readonly Buffer[]): string {
  const framer = new SseFramer(LIMITS.sseFrameBytesMax);
  const sent: string[] = [];
  const onFrame = (frame: Parameters<StreamRelay['frame']>[0]): void => {
    const out = relay.frame(frame);
    if (out !== null) sent.push(out.toString());
  };
  const onBeginning = (bytes: Buffer, from: number): number => {
    const passed = relay.repeated?.(bytes, from) ?? null;
    if (passed !== null) sent.push(passed.bytes.toString());
    return passed?.end ?? from;
  };
  for (const piece of pieces) framer.push(piece, onFrame, onBeginning);
  framer.end(onFrame);
  return sent.join('');
}

/** The data of every event of a text, parsed where it is JSON. */
export function chunksIn(text: string): Fields[] {
  return text
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice('data: '.length)) as Fields);
}

/** The deltas of the first choice of every chunk. */
export function deltasIn(text: string): Fields[] {
  return chunksIn(text).flatMap(({ choices }) => (choices as { delta: Fields }[]).map((choice) => choice.delta));
}
