import type { JobGroupView, JobView } from '../../operator/job-view.ts';
import { formatRecord } from '../table.ts';
import { usd, usdOr } from '../text-values.ts';

export const JOB_COLUMNS = [
  { title: 'JOB', text: (job: JobView) => job.id },
  { title: 'CUSTOM ID', text: (job: JobView) => job.custom_id ?? '' },
  { title: 'MODEL', text: (job: JobView) => job.effective_model },
  { title: 'STATUS', text: (job: JobView) => job.status },
  { title: 'CREATED (UTC)', text: (job: JobView) => shortTime(job.created_at) },
  { title: 'RESERVED', align: 'right', text: (job: JobView) => usd(job.reserved_nanousd) },
  { title: 'COST', align: 'right', text: (job: JobView) => usdOr(job.cost_nanousd, '') },
] as const;

export const GROUP_COLUMNS = [
  { title: 'GROUP', text: (group: JobGroupView) => group.id },
  { title: 'STATUS', text: (group: JobGroupView) => group.status },
  { title: 'CREATED (UTC)', text: (group: JobGroupView) => shortTime(group.created_at) },
  { title: 'JOBS', align: 'right', text: (group: JobGroupView) => String(group.counts.total) },
  { title: 'SUCCEEDED', align: 'right', text: (group: JobGroupView) => String(group.counts.succeeded) },
  { title: 'FAILED', align: 'right', text: (group: JobGroupView) => String(group.counts.failed) },
  { title: 'COST', align: 'right', text: (group: JobGroupView) => usd(group.cost_nanousd) },
] as const;

export function describeJob(job: JobView): string {
  return formatRecord([
    ['job', job.id],
    ['status', job.status],
    ['endpoint', job.endpoint],
    ['model', job.effective_model],
    ...(job.custom_id === null ? [] : [['custom id', job.custom_id] as const]),
    ...(job.group === null ? [] : [['group', job.group] as const]),
    ['created', shortTime(job.created_at)],
    ['expires', shortTime(job.expires_at)],
    ['finished', job.finished_at === null ? 'not yet' : shortTime(job.finished_at)],
    ['attempts', String(job.attempts)],
    ['reserved', usd(job.reserved_nanousd)],
    ['cost', usdOr(job.cost_nanousd, 'not known yet')],
    ...(job.request_id === null ? [] : [['receipt', job.request_id] as const]),
    ...(job.error === null ? [] : [['error', `${job.error.message} (${job.error.code})`] as const]),
  ]);
}

export function describeGroup({ counts, ...group }: JobGroupView): string {
  const states = Object.entries(counts).filter(([state, count]) => state !== 'total' && count > 0);
  return formatRecord([
    ['group', group.id],
    ['status', group.status],
    ['created', shortTime(group.created_at)],
    ['jobs', String(counts.total)],
    ...states.map(([state, count]) => [`  ${state}`, String(count)] as const),
    ['reserved', usd(group.reserved_nanousd)],
    ['cost', usd(group.cost_nanousd)],
  ]);
}

function shortTime(text: string): string {
  return text.slice(0, 19).replace('T', ' ');
}
