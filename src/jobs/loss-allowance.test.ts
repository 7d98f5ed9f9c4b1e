import { expect, test } from 'vitest';
import { chatAnswer } from '../../test/fake-hosts.ts';
import { ask } from '../../test/gateway-fixture.ts';
import { JobsFixture, PLAIN_TERMS } from '../../test/jobs-fixture.ts';

/** Jobs whose prompts are counted, of an account whose counts fall short. */

const HOUR_MS = 3_600_000;
const COUNTING = { counted: 3, countAboveNanousd: 0n };
const LONG = ask({ max_tokens: 1, messages: [{ role: 'user', content: 'word '.repeat(100) }] });

async function reservedForGroup(on: JobsFixture): Promise<bigint> {
  const submission = on.submission(Buffer.alloc(0));
  const intake = await on.jobs.openGroup(submission, PLAIN_TERMS);
  const body = Buffer.from(JSON.stringify(LONG));
  await intake.add([{ line: 1, endpoint: '/v1/chat/completions', body, customId: null }]);
  return (await intake.accept(submission.bodySha256)).accepted.reservedNanousd;
}

test('a group is reserved by bytes while the loss allowance of the account is used up, as a job is', async () => {
  const counted = await reservedForGroup(await JobsFixture.open(COUNTING));
  const usedUp = await JobsFixture.open({ ...COUNTING, hangupAllowanceNanousd: 0n });
  const byBytes = await reservedForGroup(usedUp);
  expect(byBytes).toBeGreaterThan(counted);
  expect((await usedUp.submit(LONG)).accepted.reservedNanousd).toBe(byBytes);
});

test('a job that was counted waits for the next hour if the loss allowance is used up before it starts', async () => {
  const fixture = await JobsFixture.open({ ...COUNTING, hangupAllowanceNanousd: 1_000n });
  const [first, second] = [await fixture.submit(LONG), await fixture.submit(LONG)];
  const usage = { prompt_tokens: 500, completion_tokens: 1, total_tokens: 501 };
  const short = await fixture.begin();
  (await fixture.on.hosts.next()).answer(200, chatAnswer({ usage }));
  expect(await short.done).toEqual({ kind: 'ended', state: 'succeeded' });
  const { callId } = await fixture.find(first.accepted.id);
  expect(await fixture.on.receipt({ id: callId! })).toMatchObject({ lossReason: 'prompt_exceeded_count' });

  const dueMs = fixture.on.clock.nowMs() + HOUR_MS;
  const early = await fixture.begin();
  const asked = fixture.on.hosts.next();
  expect(await Promise.race([early.done, asked])).toEqual({ kind: 'returned', dueMs });
  expect(await fixture.find(second.accepted.id)).toMatchObject({ state: 'queued', attempts: 0 });
  expect(await fixture.account()).toMatchObject({ heldNanousd: 0n, reservedNanousd: second.accepted.reservedNanousd });
  fixture.on.clock.advance(HOUR_MS);
  const { done } = await fixture.begin();
  (await asked).answer(200, chatAnswer());
  expect(await done).toEqual({ kind: 'ended', state: 'succeeded' });
});
