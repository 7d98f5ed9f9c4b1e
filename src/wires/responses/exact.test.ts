import { describe, expect, test } from 'vitest';
import {
  eventsIn,
  faultsOfStream,
  fixture,
  framesOf,
  type Json,
  readWithSdk,
  relayInPieces,
  TERMS,
  typesIn,
} from '../../../test/responses-stream.ts';
import { GatewayError } from '../../canonical/errors.ts';
import { exactStream } from './exact.ts';
import { mendStream } from './mend.ts';
import type { StreamState } from './stream-state.ts';

const CONFORMING = ['text', 'reasoning-parallel-tools', 'incomplete', 'refusal', 'interleaved-tools'];

describe('conforming streams', () => {
  test.each(CONFORMING)('%s: exact and mended give the same bytes, usage and size', async (name) => {
    const exact = exactStream(TERMS);
    const mended = mendStream(TERMS);
    const text = relayInPieces(exact, fixture(name), 17);
    expect(text).toBe(relayInPieces(mended, fixture(name), 1000));
    expect(exact.usage).toEqual(mended.usage);
    expect(exact.relayedBytes).toBeGreaterThanOrEqual(mended.relayedBytes);
    expect(faultsOfStream(text)).toEqual([]);
    await readWithSdk(text);
  });
});

test('nothing is sent before something is said, and the last event waits', () => {
  const relay = exactStream(TERMS);
  const events = eventsIn(fixture('text').toString()).map(({ data }) => data);
  expect(relayInPieces(relay, framesOf(events.slice(0, 2)), 999)).toBe('');
  expect(typesIn(relayInPieces(relay, framesOf(events.slice(2, 3)), 999))).toHaveLength(3);
  expect(relay).toMatchObject({ terminal: false, mayEndHere: false });
});

test('a failure midway ends in the next numbers', () => {
  const relay = exactStream(TERMS);
  const text = relayInPieces(relay, fixture('failed-midway'), 100);
  expect(relay.error).toMatchObject({ kind: 'unavailable' });
  const error = new GatewayError('host_failed', { message: 'x' });
  const whole = text + (relay as unknown as StreamState).failure(error);
  expect(faultsOfStream(whole)).toEqual([]);
  expect((eventsIn(whole).at(-1)!.data.response as Json).id).toBe('resp_f1');
});

test('a trace that is not wanted is not let through by way of its bytes', () => {
  expect(
    relayInPieces(exactStream({ ...TERMS, hideReasoning: true }), fixture('reasoning-parallel-tools'), 99),
  ).not.toContain('two calls');
});

test('a frame that is no event breaks the stream off', () => {
  const relay = exactStream(TERMS);
  relayInPieces(relay, Buffer.from('data: nonsense\n\n'), 99);
  expect(relay).toMatchObject({ terminal: true, error: { kind: 'unavailable' } });
});
