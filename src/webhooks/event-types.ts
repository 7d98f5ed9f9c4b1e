import { ALERT_KINDS } from '../store/alerts.ts';
import { FINAL_JOB_STATES } from '../store/jobs.ts';

/** Every type of event. A webhook may name single types, or a group like `alert.*`. */
const EVENT_TYPES = [
  'webhook.test',
  ...ALERT_KINDS.map((kind) => `alert.${kind}` as const),
  ...FINAL_JOB_STATES.map((state) => `job.${state}` as const),
  'group.finished',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

const GROUPS: ReadonlySet<string> = new Set(EVENT_TYPES.map((type) => `${type.split('.', 1)[0]}.*`));
const KNOWN: ReadonlySet<string> = new Set<string>([...EVENT_TYPES, ...GROUPS]);

export const EVENT_CHOICES: readonly string[] = [...KNOWN].toSorted();

export function isEventChoice(text: string): boolean {
  return KNOWN.has(text);
}
