import { expect, test } from 'vitest';
import { hasLostText, opaqueDetail, readReasoningDetails } from './reasoning-details.ts';

const SEAL = { vendor: 'anthropic-claude-v1', form: 'signature', data: 'c2lnbmVk' } as const;

test('a signature is read with its text, in one detail or in several', () => {
  const texts = ['Let me ', 'see.'].map((text) => ({ type: 'reasoning.text', text, index: 0 }));
  const message = { reasoning_details: [...texts, opaqueDetail(SEAL, 0, true)] };
  expect(readReasoningDetails(message)).toEqual([{ kind: 'reasoning', text: 'Let me see.', opaque: SEAL }]);
  expect(hasLostText(message)).toBe(false);
});

test('details without an index belong to the block before them until it has its opaque part', () => {
  const signature = (data: string) => ({ type: 'reasoning.text', signature: data, format: SEAL.vendor });
  const texts = ['Let me ', 'see.', 'Well.'].map((text) => ({ type: 'reasoning.text', text }));
  const message = { reasoning_details: [texts[0], texts[1], signature(SEAL.data), texts[2], signature('b3RoZXI=')] };
  expect(readReasoningDetails(message)).toEqual([
    { kind: 'reasoning', text: 'Let me see.', opaque: SEAL },
    { kind: 'reasoning', text: 'Well.', opaque: { ...SEAL, data: 'b3RoZXI=' } },
  ]);
  expect(hasLostText(message)).toBe(false);
});

test('a signature of which a client has lost the text is left out', () => {
  const message = { reasoning: 'see.', reasoning_details: [opaqueDetail(SEAL, 0, true)] };
  expect(readReasoningDetails(message)).toEqual([]);
  expect(hasLostText(message)).toBe(true);
});

test('a signature that never had a text is kept, and so is what is encrypted', () => {
  const encrypted = { vendor: 'responses', form: 'encrypted', data: 'ZW5j' } as const;
  const message = { reasoning_details: [opaqueDetail(SEAL, 0, false), opaqueDetail(encrypted, 1, true)] };
  expect(readReasoningDetails(message).map(({ opaque }) => opaque)).toEqual([SEAL, encrypted]);
  expect(hasLostText(message)).toBe(false);
});
