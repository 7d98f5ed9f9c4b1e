import { expect, test } from 'vitest';
import { refusing } from '../adjustments.ts';
import { readMessages } from './read-messages.ts';
import { opaqueDetail } from './reasoning-details.ts';

test('signatures without their text are named once, however many turns of an agent have one', () => {
  const seal = { vendor: 'anthropic-claude-v1', form: 'signature', data: 'c2lnbmVk' } as const;
  const turn = { role: 'assistant', content: 'Well.', reasoning_details: [opaqueDetail(seal, 0, true)] };
  const adjustments = refusing();
  readMessages(
    Array.from({ length: 30 }, () => turn),
    adjustments,
  );
  expect(adjustments.describe(null)).toBe('reasoning_details=dropped');
});
