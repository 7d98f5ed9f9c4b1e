import { LIMITS } from '../src/limits.ts';

/** How often gateways look for jobs and deliveries that are due, and for the end of a job that runs in another process. */
const POLLS = ['jobWorkerPollMs', 'jobWaitPollMs', 'webhookPollMs'] as const;
const SHORT_POLL_MS = 50;

/**
 * Lets gateways in this process look for work more often, where tests would wait for their next look, until the returned
 * function is called; `beforeAll` calls it by itself. The tests of these looks have a clock of their own.
 */
export function pollOften(): () => void {
  const usual = Object.fromEntries(POLLS.map((name) => [name, LIMITS[name]]));
  Object.assign(LIMITS, Object.fromEntries(POLLS.map((name) => [name, SHORT_POLL_MS])));
  return () => void Object.assign(LIMITS, usual);
}
