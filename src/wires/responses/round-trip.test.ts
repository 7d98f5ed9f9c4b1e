import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalRequests } from '../../../test/responses-arbitraries.ts';
import type { CanonicalRequest } from '../../canonical/request.ts';
import { scanJson } from '../../json/json.ts';
import type { HubRequestTerms } from '../hub.ts';
import { peek } from './peek.ts';
import { readRequest } from './read-request.ts';
import { writeRequest } from './write-request.ts';

const LIMITS = { depthMax: 64, nodesMax: 100_000, keysMax: 100_000, numberDigitsMax: 400, keyBytesMax: 4096 };

function termsFor(request: CanonicalRequest): HubRequestTerms {
  return {
    hostModel: 'host-model',
    stream: false,
    outputLimit: 100,
    outputLimitField: 'max_output_tokens',
    reasoningEffort: request.reasoning?.effort ?? null,
    thinking: null,
  };
}

function throughTheWire(request: CanonicalRequest): CanonicalRequest {
  const text = scanJson(writeRequest(request, termsFor(request)), LIMITS);
  return readRequest(text, peek(text));
}

describe('a request written for a host of this wire', () => {
  test('says everything it said before when a client of this wire sends it', () => {
    let withCalls = 0;
    let withImages = 0;
    let withReasoning = 0;
    fc.assert(
      fc.property(canonicalRequests, (request) => {
        const blocks = request.messages.flatMap((message) => message.blocks);
        if (request.messages.some((one) => one.blocks.filter(({ kind }) => kind === 'tool-call').length > 1))
          withCalls++;
        if (blocks.some(({ kind }) => kind === 'image')) withImages++;
        if (blocks.some(({ kind }) => kind === 'reasoning')) withReasoning++;
        expect(throughTheWire(request)).toEqual(request);
      }),
      { numRuns: 300 },
    );
    expect(Math.min(withCalls, withImages, withReasoning)).toBeGreaterThan(20);
  });
});
