import { expect, test } from 'vitest';
import { chatAnswer, USAGE } from '../../test/fake-hosts.ts';
import { ask, PRICE } from '../../test/gateway-fixture.ts';
import { JobsFixture, PLAIN_TERMS } from '../../test/jobs-fixture.ts';
import { LIMITS } from '../limits.ts';
import type { Job } from './jobs.ts';

/** Jobs that cost the operator something: their prompts have more tokens than were counted, or their responses are too large. */

const COST_NANOUSD = BigInt(USAGE.prompt_tokens) * PRICE.input + BigInt(USAGE.completion_tokens) * PRICE.output;

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
  expect(await fixture.find(second.accepted.id)).toMatchObject({
    state: 'queued',
    attempts: 0,
    errorCode: 'loss_allowance_used_up',
  });
  expect(await fixture.account()).toMatchObject({ heldNanousd: 0n, reservedNanousd: second.accepted.reservedNanousd });
  fixture.on.clock.advance(HOUR_MS);
  const { done } = await fixture.begin();
  (await asked).answer(200, chatAnswer());
  expect(await done).toEqual({ kind: 'ended', state: 'succeeded' });
  expect(await fixture.find(second.accepted.id)).toMatchObject({ errorCode: null, errorMessage: null });
});

/** A response that is larger than what is stored for a job. */
const HUGE = JSON.stringify(chatAnswer()).replace('{', `{"padding":"${'x'.repeat(LIMITS.jobResultBytesMax)}",`);

async function afterHugeAnswer(fixture: JobsFixture): Promise<{ readonly job: Job; readonly receipt: object | null }> {
  const { accepted } = await fixture.submit();
  const { done } = await fixture.begin();
  (await fixture.on.hosts.next()).answer(200, HUGE);
  expect(await done).toEqual({ kind: 'ended', state: 'failed' });
  const job = await fixture.find(accepted.id);
  return { job, receipt: await fixture.on.receipt({ id: job.callId! }) };
}

test('a response that is too large to be stored is free only while the loss allowance covers it', async () => {
  const fixture = await JobsFixture.open({ hangupAllowanceNanousd: COST_NANOUSD });
  const free = await afterHugeAnswer(fixture);
  expect(free.job).toMatchObject({ costNanousd: 0n, errorMessage: expect.stringContaining('nothing was charged') });
  expect(free.receipt).toMatchObject({ costNanousd: 0n, lossNanousd: COST_NANOUSD });

  const charged = await afterHugeAnswer(fixture);
  expect(charged.job).toMatchObject({
    costNanousd: COST_NANOUSD,
    errorMessage: expect.stringContaining('it was charged'),
  });
  expect(charged.receipt).toMatchObject({ costNanousd: COST_NANOUSD, lossNanousd: 0n });
  expect(await fixture.account()).toMatchObject({ heldNanousd: 0n, reservedNanousd: 0n });
});

test('a response that is too large to be stored is charged if it costs more than the whole loss allowance, and that is said', async () => {
  const fixture = await JobsFixture.open({ hangupAllowanceNanousd: COST_NANOUSD - 1n });
  const { job } = await afterHugeAnswer(fixture);
  const errorMessage = expect.stringContaining('the loss allowance of the account (GET /v1/balance) does not cover it');
  expect(job).toMatchObject({ costNanousd: COST_NANOUSD, errorMessage });
});
