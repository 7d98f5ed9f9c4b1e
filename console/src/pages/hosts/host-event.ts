import type { Host } from '../../api/generated/routes.ts';

type HostEvent = Host['events'][number];

const TEXTS: Readonly<Record<string, string>> = {
  probed: 'A call tested whether it works again',
  ejected: 'Taken out after failures',
  key_set_aside: 'Refused the key',
  returned: 'Works again',
  refused: 'Refused a call',
  limited: 'Reached its rate limit',
  model_set_aside: 'Does not know a model',
};

export function eventText({ kind, status }: HostEvent): string {
  const text = TEXTS[kind] ?? kind.replaceAll('_', ' ');
  return status === null ? text : `${text} (${status})`;
}
