import type { ReactNode } from 'react';
import type { Webhook } from '../../api/generated/routes.ts';
import { Chip, type Tone } from '../../parts/chip.tsx';

const TONES: Readonly<Record<Webhook['status'], Tone>> = { active: 'good', retrying: 'warning', failing: 'error' };

export function WebhookState({ webhook }: { readonly webhook: Webhook }): ReactNode {
  return <Chip tone={TONES[webhook.status]}>{webhook.status}</Chip>;
}
