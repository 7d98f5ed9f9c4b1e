import type { ReactNode } from 'react';
import type { ShownKey } from '../../api/generated/routes.ts';
import { Chip, type Tone } from '../../parts/chip.tsx';
import { Ago } from '../../parts/time.tsx';

const TONES: Readonly<Record<string, Tone>> = {
  active: 'good',
  disabled: 'warning',
  revoked: 'neutral',
  expired: 'error',
};

export function KeyStatus({ shownKey }: { readonly shownKey: Pick<ShownKey, 'status'> }): ReactNode {
  return <Chip tone={TONES[shownKey.status] ?? 'neutral'}>{shownKey.status.replaceAll('_', ' ')}</Chip>;
}

/** The gateway notes a use a minute later. Until then a key that has spent something was not used "never". */
export function LastUsed({ shownKey }: { readonly shownKey: ShownKey }): ReactNode {
  const { last_used_at, spent_nanousd, held_nanousd } = shownKey;
  return <Ago at={last_used_at} none={spent_nanousd + held_nanousd > 0n ? '–' : 'never'} />;
}
