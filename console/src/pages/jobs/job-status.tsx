import type { ReactNode } from 'react';
import type { Job } from '../../api/generated/routes.ts';
import { Chip, type Tone } from '../../parts/chip.tsx';

const TONES: Readonly<Record<Job['status'], Tone>> = {
  scheduled: 'neutral',
  queued: 'neutral',
  running: 'warning',
  cancelling: 'warning',
  succeeded: 'good',
  failed: 'error',
  cancelled: 'neutral',
  expired: 'error',
  paused: 'warning',
};

export const STATUS_CHOICES = [
  { value: 'any', label: 'any' },
  ...Object.keys(TONES).map((value) => ({ value, label: value })),
];

const ENDED: ReadonlySet<Job['status']> = new Set(['succeeded', 'failed', 'cancelled', 'expired']);

export function hasEnded({ status }: Pick<Job, 'status'>): boolean {
  return ENDED.has(status);
}

const NOT_STARTED: ReadonlySet<Job['status']> = new Set(['scheduled', 'queued', 'paused', 'expired']);

/** Whether it can still be, or was, too late to start. */
export function canExpire({ status }: Pick<Job, 'status'>): boolean {
  return NOT_STARTED.has(status);
}

export function JobStatus({ job }: { readonly job: Pick<Job, 'status'> }): ReactNode {
  return <Chip tone={TONES[job.status]}>{job.status}</Chip>;
}

/** The API of jobs writes times as texts; the parts of pages take seconds. */
export function secondsOf(timestamp: string | null): number | null {
  return timestamp === null ? null : Date.parse(timestamp) / 1000;
}
