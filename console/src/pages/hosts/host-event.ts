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

/**
 * Calls fail many at a time, so that several events are of the same kind and second. The oldest is last, and keeps its id when
 * newer ones come: rows with the same id would stay on the page and be shown again and again.
 */
export function eventsWithIds(events: readonly HostEvent[]): readonly (HostEvent & { readonly id: string })[] {
  const counts = new Map<string, number>();
  return events
    .toReversed()
    .map((event) => {
      const name = `${event.at}-${event.kind}`;
      const count = counts.get(name) ?? 0;
      counts.set(name, count + 1);
      return { ...event, id: `${name}-${count}` };
    })
    .toReversed();
}

export function eventText({ kind, status }: HostEvent): string {
  const text = TEXTS[kind] ?? kind.replaceAll('_', ' ');
  return status === null ? text : `${text} (${status})`;
}
