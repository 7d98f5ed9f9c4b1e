import fc from 'fast-check';
import { expect, test } from 'vitest';
import { GatewayError } from '../src/canonical/errors.ts';
import type { CanonicalRequest } from '../src/canonical/request.ts';
import type { WireName } from '../src/canonical/wire-names.ts';
import { scanJson } from '../src/json/json.ts';
import { LIMITS } from '../src/limits.ts';
import { WIRES } from '../src/wires/registry.ts';
import { randomCases } from './random-cases.ts';
import { canonicalRequests } from './responses-arbitraries.ts';

/**
 * A request goes once around all conversational wires: chat, messages, responses, chat. The result is its normal form:
 * instructions first, alternating roles, tool results before text, reasoning before text before calls, no reasoning
 * that another vendor signed, no empty text, no explicit defaults. Going around again changes nothing.
 */
const AROUND = ['chat', 'messages', 'responses', 'chat'] as const;
const RUNS = randomCases(400);

const TERMS = {
  hostModel: 'any',
  stream: false,
  outputLimit: 4096,
  outputLimitField: 'max_tokens',
  reasoningEffort: null,
  thinking: null,
} as const;

const JSON_LIMITS = {
  depthMax: LIMITS.jsonDepthMax,
  nodesMax: LIMITS.jsonNodesMax,
  keysMax: LIMITS.jsonKeysMax,
  numberDigitsMax: LIMITS.jsonNumberDigitsMax,
  keyBytesMax: LIMITS.jsonKeyBytesMax,
};

function through(request: CanonicalRequest, name: WireName): CanonicalRequest {
  const { client, hub } = WIRES[name];
  const text = scanJson(hub!.upstream!.writeRequest(request, TERMS), JSON_LIMITS);
  return hub!.client!.readRequest(text, client.peek(text, {}));
}

function around(request: CanonicalRequest): CanonicalRequest {
  return AROUND.reduce(through, request);
}

/** A wire may not be able to express a field, and then refuses it by name; such a request has no normal form. */
function normalForm(request: CanonicalRequest): CanonicalRequest | null {
  try {
    return around(request);
  } catch (error) {
    if (error instanceof GatewayError && error.param !== null) return null;
    throw error;
  }
}

test('once around all wires reaches a normal form, and again changes nothing', () => {
  const seen = { requests: 0, carried: 0, parallelCalls: 0, seals: 0, images: 0, documents: 0 };
  fc.assert(
    fc.property(canonicalRequests, (request) => {
      seen.requests++;
      const blocks = request.messages.flatMap((message) => message.blocks);
      const isParallel = request.messages.some(
        (one) => one.blocks.filter(({ kind }) => kind === 'tool-call').length > 1,
      );
      seen.parallelCalls += Number(isParallel);
      seen.seals += Number(blocks.some((block) => block.kind === 'reasoning' && block.opaque !== null));
      seen.images += Number(blocks.some(({ kind }) => kind === 'image'));
      seen.documents += Number(blocks.some(({ kind }) => kind === 'document'));
      const normal = normalForm(request);
      if (normal === null) return;
      seen.carried++;
      expect(around(normal)).toEqual(normal);
      expect(callsOf(normal)).toEqual(callsOf(request));
    }),
    { numRuns: RUNS, seed: 1 },
  );
  process.stdout.write(`round trips: ${JSON.stringify(seen)}\n`);
  expect(seen.carried).toBeGreaterThan(RUNS / 3);
  expect(seen.parallelCalls).toBeGreaterThan(RUNS / 10);
  expect(seen.seals).toBeGreaterThan(RUNS / 10);
  expect(seen.images).toBeGreaterThan(RUNS / 10);
  expect(seen.documents).toBeGreaterThan(RUNS / 10);
});

/** Whatever else a wire reorders, the tool calls, their arguments and their results stay the same. */
function callsOf({ messages }: CanonicalRequest): unknown[] {
  return messages.flatMap(({ blocks }) =>
    blocks.flatMap((block) => {
      if (block.kind === 'tool-call')
        return [[block.id, block.name, block.argumentsJson === '' ? '{}' : block.argumentsJson]];
      return block.kind === 'tool-result' ? [[block.callId]] : [];
    }),
  );
}
