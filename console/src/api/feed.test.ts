import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { followReceipts } from './feed.ts';

const RETRY_MS = 2_000;
const ignore = (): void => undefined;
const IGNORED = { onGap: ignore, onReceipt: ignore, onRefused: ignore, onState: ignore };
let asked: (string | null)[];
let answers: ReadableStream<Uint8Array>[];
let end: () => void;

beforeEach(() => {
  vi.useFakeTimers();
  [asked, answers, end] = [[], [], () => undefined];
  vi.stubGlobal('sessionStorage', { getItem: () => null });
  vi.stubGlobal('fetch', async (_url: string, { headers }: RequestInit) => {
    asked.push(new Headers(headers).get('last-event-id'));
    return new Response(answers.shift() ?? new ReadableStream());
  });
});
afterEach(() => {
  end();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** A connection that sends these texts, and then ends or breaks. */
function connection(texts: readonly string[], isBroken: boolean): ReadableStream<Uint8Array> {
  const left = texts.map((text) => new TextEncoder().encode(text));
  return new ReadableStream({
    pull: (controller) => {
      const next = left.shift();
      if (next !== undefined) controller.enqueue(next);
      else if (isBroken) controller.error(new TypeError('network error'));
      else controller.close();
    },
  });
}

test.each([
  ['ended', false],
  ['broke', true],
])('continues after the last event of a connection that %s', async (_how, isBroken) => {
  const receipts: unknown[] = [];
  const states: string[] = [];
  const receipt = 'event: receipt\nid: run.5\ndata: {"id":"req_1"}\n\n';
  answers = [connection(['event: ready\nid: run.4\ndata: {}\n\n', receipt.slice(0, 20), receipt.slice(20)], isBroken)];
  end = followReceipts(
    {},
    { ...IGNORED, onReceipt: (one) => receipts.push(one), onState: (state) => states.push(state) },
  );
  await vi.advanceTimersByTimeAsync(RETRY_MS);
  expect([asked, receipts, states]).toEqual([[null, 'run.5'], [{ id: 'req_1' }], ['open', 'waiting']]);
});

test('stops waiting for the next connection when it is ended', async () => {
  answers = [connection([], true)];
  end = followReceipts({}, IGNORED);
  await vi.advanceTimersByTimeAsync(0);
  end();
  await vi.advanceTimersByTimeAsync(2 * RETRY_MS);
  expect([asked, vi.getTimerCount()]).toEqual([[null], 0]);
});

test.each([
  ['once that it is refused, however often it asks again', [401, 401, 401], [401]],
  ['also that it is refused for another reason, as after a restart', [503, 401, 401], [503, 401]],
])('says %s', async (_what, statuses, told) => {
  const refused: number[] = [];
  const left = [...statuses];
  vi.stubGlobal('fetch', async () => new Response('', { status: left.shift() ?? 401 }));
  end = followReceipts({}, { ...IGNORED, onRefused: (status) => refused.push(status) });
  await vi.advanceTimersByTimeAsync(3 * RETRY_MS);
  expect(refused).toEqual(told);
});
