import { expect, test } from 'vitest';
import { expectSame } from '../../../test/expect-same.ts';
import { ManualClock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import { DeploymentWork } from './deployment-work.ts';

/** Work of four seconds and more. */
const LISTS = Buffer.from(`[${'[],'.repeat(LIMITS.deploymentWorkPerSecond / 2)}[]]`);

/** The first refusal in this many tries; null if there is none. */
function firstRefusal<Refusal>(tries: number, ask: () => Refusal | null): Refusal | null {
  for (let tried = 0; tried < tries; tried++) {
    const refusal = ask();
    if (refusal !== null) return refusal;
  }
  return null;
}

test('an account that has caused much work waits until its budget is full, and others do not', () => {
  const clock = new ManualClock(0);
  const work = new DeploymentWork(clock);
  expect(work.refusal(1n, LISTS)).toBeNull();
  expect(work.refusal(1n, LISTS)?.message).toContain('so shortly after others');
  expect(work.refusal(2n, LISTS)).toBeNull();
  expect(work.refusal(1n, Buffer.from('[[]]'))).toBeNull();
  clock.advance(1_000 * LIMITS.deploymentWorkBurstS);
  expect(work.refusal(1n, LISTS)).toBeNull();
});

test('a long text and many numbers are read, and as many objects are not', () => {
  const work = new DeploymentWork(new ManualClock(0));
  const megabytes = 30 * 1024 * 1024;
  expect(work.refusal(1n, Buffer.from(`{"content":"${'a'.repeat(megabytes)}"}`))).toBeNull();
  expect(work.refusal(2n, Buffer.from(`[${'-0.0123456,'.repeat(megabytes / 11)}0]`))).toBeNull();
  const objects = Buffer.from(`[${'{},'.repeat(megabytes / 3)}{}]`);
  expect(work.refusal(3n, objects)?.message).toContain('too many JSON values');
});

test('embeddings of twenty calls at once are read', () => {
  const work = new DeploymentWork(new ManualClock(0));
  const vector = `[${Array(1536).fill('-0.0123456789').join()}]`;
  const list = Buffer.from(
    `{"data":[${Array(100).fill(`{"object":"embedding","index":10,"embedding":${vector}}`).join()}]}`,
  );
  for (let call = 0; call < 20; call++) expect(work.refusal(1n, list)).toBeNull();
});

test('short frames count even if every stream has only a few of them', () => {
  const work = new DeploymentWork(new ManualClock(0));
  const junk = Buffer.from(`data: [${'[],'.repeat(5_000)}[]]\n\n`);
  const refused = firstRefusal(1_000, () => {
    const refusalOf = work.ofStream(1n);
    return firstRefusal(4, () => refusalOf(junk));
  });
  expect(refused?.message).toContain('so shortly after others');
});

test('short frames of a stream count, so that many of them are too much, and the usual ones of 64 streams are not', () => {
  const clock = new ManualClock(0);
  const work = new DeploymentWork(clock);
  const junk = Buffer.from(`data: [${'[],'.repeat(5_000)}[]]\n\n`);
  const refusalOf = work.ofStream(1n);
  const refused = firstRefusal(10_000, () => refusalOf(junk));
  expect(refused?.message).toContain('so shortly after others');
  const usual = Buffer.from(
    'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}\n\n',
  );
  const streams = Array.from({ length: 64 }, () => work.ofStream(2n));
  for (let frame = 0; frame < 600; frame++) {
    for (const usualRefusal of streams) expectSame(usualRefusal(usual), null);
    clock.advance(10);
  }
});
