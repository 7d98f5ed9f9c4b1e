import { expect, test } from 'vitest';
import { ManualClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import type { HandedEvent, Job, JobEvent, JobGroup } from '../store/jobs.ts';
import { JobEvents } from './job-events.ts';

const JOB = {
  id: 1n,
  accountId: 7n,
  groupId: null,
  customId: 'mine',
  endpoint: '/v1/messages',
  effectiveModel: 'm',
  state: 'failed',
  attempts: 2,
  costNanousd: 12_345_678_901_234_567_890n,
  callId: 2n,
  errorCode: 'host_failed',
  errorMessage: 'a text with the prompt in it',
  metadataJson: '{"secret":"x"}',
  finishedMs: 0,
  resultExpiresMs: null,
  webhook: null,
} as unknown as Job;
const GROUP = {
  id: 3n,
  accountId: 7n,
  lines: 2,
  counts: { succeeded: 2 },
  chargedNanousd: 5n,
  finishedMs: 0,
  webhook: 'hook',
};

function open(events: JobEvent[], subjects: { job?: Job; hook?: boolean } = {}) {
  const clock = new ManualClock(0);
  const handed: HandedEvent[] = [];
  const errors: unknown[] = [];
  let nudges = 0;
  let ids = 100n;
  const pump = new JobEvents({
    jobs: {
      events: async (limit) => events.slice(0, limit),
      handOver: async (given) => {
        handed.push(...given);
        events.splice(0, given.length);
        return given.length;
      },
      find: async () => subjects.job ?? JOB,
      findGroup: async () => GROUP as unknown as JobGroup,
    },
    webhooks: {
      findWebhook: async (_, name) => (subjects.hook === false || name !== 'hook' ? null : ({ id: 9n } as never)),
    },
    ids: { next: () => ids++ },
    clock,
    nudge: () => nudges++,
    onError: (error) => errors.push(error),
  });
  return { pump, clock, handed, errors, nudges: () => nudges };
}

const event = (type: JobEvent['type'], subjectId = 1n): JobEvent => ({ subjectId, accountId: 7n, type, createdMs: 5 });

test('an event has ids, state and cost with all digits, and nothing of what was asked, answered or noted', async () => {
  const { pump, handed, nudges } = open([event('job.failed')]);
  expect(await pump.handOver()).toBe(1);
  expect(handed).toMatchObject([
    { subjectId: 1n, event: { id: 100n, accountId: 7n, type: 'job.failed', createdMs: 5 } },
  ]);
  const { dataJson } = handed[0]!.event!;
  expect(dataJson).toContain('"cost_nanousd":12345678901234567890');
  expect(JSON.parse(dataJson)).toMatchObject({
    job: expect.stringMatching(/^job_/),
    status: 'failed',
    custom_id: 'mine',
    request_id: expect.stringMatching(/^req_/),
    error_code: 'host_failed',
    finished_at: '1970-01-01T00:00:00.000Z',
  });
  expect(dataJson).not.toMatch(/prompt|secret/);
  expect(nudges()).toBe(1);
});

test('a group names its webhook, which alone is told; one that was removed is not', async () => {
  const named = open([event('group.finished', 3n)]);
  await named.pump.handOver();
  expect(named.handed[0]!.event).toMatchObject({ type: 'group.finished', webhookId: 9n });
  expect(JSON.parse(named.handed[0]!.event!.dataJson)).toMatchObject({
    status: 'finished',
    counts: { total: 2 },
    cost_nanousd: 5,
  });
  const removed = open([event('group.finished', 3n)], { hook: false });
  await removed.pump.handOver();
  expect(removed.handed).toEqual([{ subjectId: 3n, event: null }]);
});

test('an event of a job of a group, as earlier versions wrote it, is told to nobody', async () => {
  const { pump, handed } = open([event('job.succeeded')], { job: { ...JOB, groupId: 3n } });
  await pump.handOver();
  expect(handed).toEqual([{ subjectId: 1n, event: null }]);
});

test('events are looked for again and again, even after a failure, until it is stopped', async () => {
  const events = Array.from({ length: LIMITS.jobEventsAtOnce + 1 }, () => event('job.failed'));
  const { pump, clock, handed, errors } = open(events);
  const real = pump.handOver.bind(pump);
  let failures = 1;
  pump.handOver = () => (failures-- > 0 ? Promise.reject(new Error('away')) : real());
  pump.start();
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  await pass(LIMITS.webhookPollMs);
  expect([errors.length, handed.length]).toEqual([1, 0]);
  await pass(LIMITS.webhookPollMs);
  await pass(0);
  expect(handed).toHaveLength(LIMITS.jobEventsAtOnce + 1);
  await pump.stop();
  events.push(event('job.failed'));
  await pass(10 * LIMITS.webhookPollMs);
  expect(handed).toHaveLength(LIMITS.jobEventsAtOnce + 1);
});
