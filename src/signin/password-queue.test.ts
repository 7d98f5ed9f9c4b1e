import { expect, test } from 'vitest';
import { LIMITS } from '../limits.ts';
import { PasswordQueue } from './password-queue.ts';

test('runs a few at once, lets a few wait, and refuses the rest', async () => {
  const queue = new PasswordQueue();
  const ends: (() => void)[] = [];
  let running = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    most = Math.max(most, ++running);
    await new Promise<void>((resolve) => ends.push(resolve));
    running--;
  };
  const admitted = LIMITS.passwordHashesMax + LIMITS.passwordQueueMax;
  const results = Array.from({ length: admitted }, () => queue.run(work));
  await expect(queue.run(work)).rejects.toMatchObject({ code: 'overloaded', status: 503 });
  for (let done = 0; done < admitted; done++) {
    while (ends.length === 0) await Promise.resolve();
    ends.shift()!();
    await results[done];
  }
  expect(most).toBe(LIMITS.passwordHashesMax);
  await queue.run(() => Promise.resolve());
});

test('gives a place back when the work fails', async () => {
  const queue = new PasswordQueue();
  for (let i = 0; i < 2 * LIMITS.passwordHashesMax; i++)
    await expect(queue.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await queue.run(() => Promise.resolve());
});
