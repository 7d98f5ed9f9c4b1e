import type { ReactNode } from 'react';
import type { Host } from '../../api/generated/routes.ts';
import { Chip, type Tone } from '../../parts/chip.tsx';
import type { HostStates } from '../models/use-host-states.ts';

type State = Host['state'];

const STATES: Readonly<Record<State, { readonly label: string; readonly tone: Tone; readonly means: string }>> = {
  well: { label: 'well', tone: 'good', means: 'It answers.' },
  limited: { label: 'limited', tone: 'warning', means: 'It refuses some calls because of its rate limit.' },
  probing: { label: 'probing', tone: 'warning', means: 'It failed before; one call tests whether it works again.' },
  ejected: { label: 'out', tone: 'error', means: 'It failed several times. No calls go there for a while.' },
  key_refused: {
    label: 'key refused',
    tone: 'error',
    means: 'It does not accept the key. Check the key of this host.',
  },
  refusing: {
    label: 'refusing',
    tone: 'error',
    means: 'It refuses every request with 402 or 403. Check the credit and the permissions of our account there.',
  },
};

export function stateMeaning(state: State): string {
  return STATES[state].means;
}

export function HostStateChip({ state }: { readonly state: State | null }): ReactNode {
  if (state === null) return <span className="text-muted">–</span>;
  const { label, tone, means } = STATES[state];
  return (
    <Chip tone={tone} title={means}>
      {label}
    </Chip>
  );
}

/** How many hosts serve a model, and how many of them are not healthy. */
export function HostDots({
  hosts,
  states,
}: {
  readonly hosts: readonly string[];
  readonly states: HostStates;
}): ReactNode {
  const bad = hosts.filter((host) => !['well', undefined].includes(states.get(host)));
  return (
    <span className="inline-flex items-center gap-2" title={hosts.join(', ')}>
      {bad.length === 0 ? null : (
        <Chip tone="warning">{bad.length === hosts.length ? 'none is well' : `${bad.length} not well`}</Chip>
      )}
      {hosts.length === 1 ? hosts[0] : hosts.length}
    </span>
  );
}
