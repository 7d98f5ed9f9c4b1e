import type { ReactNode } from 'react';
import type { ShownKey } from '../../api/generated/routes.ts';
import { Chip, type Tone } from '../../parts/chip.tsx';

const TONES: Readonly<Record<string, Tone>> = {
  active: 'good',
  disabled: 'warning',
  revoked: 'neutral',
  expired: 'error',
};

export function KeyStatus({ shownKey }: { readonly shownKey: Pick<ShownKey, 'status'> }): ReactNode {
  return <Chip tone={TONES[shownKey.status] ?? 'neutral'}>{shownKey.status.replaceAll('_', ' ')}</Chip>;
}
