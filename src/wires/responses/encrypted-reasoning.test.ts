import { describe, expect, test } from 'vitest';
import { billFor, eventsIn, fixture, type Json, relayInPieces, TERMS } from '../../../test/responses-stream.ts';
import type { HostQuirks } from '../../canonical/host-quirks.ts';
import type { CanonicalMessage, OpaqueReasoning } from '../../canonical/request.ts';
import { ZERO_USAGE } from '../../canonical/usage.ts';
import { scanJson } from '../../json/json.ts';
import { RESPONSES_VENDOR, unwrapEncrypted } from './encrypted-reasoning.ts';
import { mendStream } from './mend.ts';
import { peek } from './peek.ts';
import { spliceRequest } from './splice-request.ts';
import { spliceResponse } from './splice-response.ts';
import { writeItems } from './write-items.ts';

/** Reasoning that one vendor encrypted goes back to that vendor's hosts only, even if others speak the same wire. */

const STREAM = fixture('reasoning-parallel-tools');
const SEALS = [...new Set(sealsIn(STREAM.toString()))];

function sealsIn(text: string): string[] {
  return [...text.matchAll(/"encrypted_content":"([^"]*)"/g)].map(([, seal]) => seal!);
}

function answered(quirks: HostQuirks): string {
  return relayInPieces(mendStream({ ...TERMS, quirks }), STREAM, 1 << 20);
}

function answeredWhole(quirks: HostQuirks): string {
  const last = eventsIn(STREAM.toString()).findLast(({ data }) => data.response !== undefined)!;
  const body = Buffer.from(JSON.stringify(last.data.response as Json));
  return spliceResponse(body, { ...TERMS, quirks })
    .write(billFor(ZERO_USAGE))
    .toString();
}

const LIMITS = { depthMax: 64, nodesMax: 100_000, keysMax: 100_000, numberDigitsMax: 400, keyBytesMax: 4096 };

/** Which of the caller's encrypted reasoning reaches a host. */
function sent(seals: readonly string[], quirks: HostQuirks): string[] {
  const input = seals.map((encrypted_content) => ({ type: 'reasoning', summary: [], encrypted_content }));
  const body = { model: 'm', input: [...input, { role: 'user', content: 'go on' }] };
  const text = scanJson(Buffer.from(JSON.stringify(body)), LIMITS);
  const terms = {
    hostModel: 'm',
    outputLimit: 9,
    outputLimitField: 'max_output_tokens',
    forwards: [],
    reasoningEffort: null,
    reducesVectors: false,
    quirks,
  };
  return sealsIn(spliceRequest(text, peek(text), terms).toString());
}

test('the recording has seals', () => {
  expect(SEALS.length).toBeGreaterThan(0);
});

test('seals of the wire’s own vendor pass as they are, both ways', () => {
  expect(new Set(sealsIn(answered({})))).toEqual(new Set(SEALS));
  expect(sent(SEALS, {})).toEqual(SEALS);
});

describe.each([
  ['streamed', answered],
  ['buffered', answeredWhole],
])('seals of another vendor, %s', (_, answer) => {
  const told = sealsIn(answer({ seals: 'other' }));

  test('leave in a wrapping', () => {
    expect(told.length).toBeGreaterThan(0);
    for (const seal of told) expect(SEALS).not.toContain(seal);
    for (const seal of told) expect(SEALS).toContain(unwrapEncrypted(seal, 'other'));
  });

  test('go back, as they were made, to that vendor', () => {
    for (const seal of sent(told, { seals: 'other' })) expect(SEALS).toContain(seal);
    expect(sent(told, { seals: 'other' })).toHaveLength(told.length);
  });

  test('and to nobody else', () => {
    expect(sent(told, {})).toEqual([]);
    expect(sent(told, { seals: 'third' })).toEqual([]);
  });
});

test('a seal without a wrapping is the wire’s own, and not for another vendor', () => {
  expect(sent(SEALS, { seals: 'other' })).toEqual([]);
});

test('what only looks like a wrapping goes nowhere', () => {
  expect(sent(['tollgate.reasoning.e30'], {})).toEqual([]);
  expect(sent(['tollgate.reasoning.e30'], { seals: 'other' })).toEqual([]);
});

test('from another wire, each vendor’s host gets its own', () => {
  const opaque = (vendor: string): OpaqueReasoning => ({ vendor, form: 'encrypted', data: `by ${vendor}` });
  const turn: CanonicalMessage = {
    role: 'assistant',
    blocks: [
      { kind: 'reasoning', text: '', opaque: opaque('other') },
      { kind: 'reasoning', text: '', opaque: opaque(RESPONSES_VENDOR) },
      { kind: 'text', text: 'hello' },
    ],
  };
  expect(sealsIn(JSON.stringify(writeItems([turn])))).toEqual([`by ${RESPONSES_VENDOR}`]);
  expect(sealsIn(JSON.stringify(writeItems([turn], 'other')))).toEqual(['by other']);
});
