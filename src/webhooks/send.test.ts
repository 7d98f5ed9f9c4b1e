import { expect, test } from 'vitest';
import type { GuardedEgress } from '../egress/guarded-egress.ts';
import type { ResponseReceiver } from '../egress/sender.ts';
import { ManualClock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { post } from './send.ts';

type Ending = (receiver: ResponseReceiver, clock: ManualClock, stopping: AbortController) => void;

/** Posts to a receiver that sends this status and then ends in some way. */
async function postTo(status: number, end: Ending) {
  const clock = new ManualClock();
  const stopping = new AbortController();
  let cancels = 0;
  let receiver: ResponseReceiver | null = null;
  const egress = {
    recall: () => ({}),
    send: (_url: unknown, _request: unknown, to: ResponseReceiver) => {
      receiver = to;
      return { pause: () => {}, resume: () => {}, cancel: () => void cancels++ };
    },
  } as unknown as Pick<GuardedEgress, 'recall' | 'send'>;
  const attempt = post({ egress, clock, stopping: stopping.signal }, 'https://hooks.example/', {}, '{}');
  receiver!.head(status, {});
  end(receiver!, clock, stopping);
  return { ...(await attempt), cancels };
}

const ENDINGS: readonly [how: string, end: Ending, cancels: number][] = [
  ['never comes', (_, clock) => clock.advance(LIMITS.webhookAnswerMs), 1],
  ['breaks off', (receiver) => receiver.failed(new Error('reset')), 0],
  ['has no end', (receiver) => receiver.data([Buffer.alloc(LIMITS.webhookAnswerBytesMax + 1)]), 1],
  ['is still on its way when the gateway stops', (_receiver, _clock, stopping) => stopping.abort(), 1],
];

test.each(ENDINGS)('a delivery that was answered with 2xx is accepted if the rest %s', async (_, end, cancels) => {
  expect(await postTo(202, end)).toEqual({ httpStatus: 202, error: null, cancels });
});

test.each(ENDINGS)('a delivery that was answered with another status fails if the rest %s', async (_, end, cancels) => {
  expect(await postTo(503, end)).toEqual({ httpStatus: 503, error: expect.any(String), cancels });
});
