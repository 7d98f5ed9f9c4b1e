import { describe, expect, test } from 'vitest';
import { ask, GatewayFixture } from '../../../test/gateway-fixture.ts';
import type { PromptTexts } from '../../canonical/prompt-size.ts';
import { LIMITS } from '../../limits.ts';
import { WIRES } from '../../wires/registry.ts';
import { openRecord } from '../exchange-record.ts';
import { readBody } from '../read-call.ts';
import { understand } from '../understand.ts';
import { promptOf } from './prompt-counter.ts';
import type { PromptBody } from './token-counter.ts';

/** What is handed to the counting thread for this content of a message. */
function handedOver(content: unknown): PromptTexts | PromptBody {
  const text = readBody(Buffer.from(JSON.stringify(ask({ messages: [{ role: 'user', content }] }))));
  return promptOf('chat', text, WIRES.chat.client.peek(text, {}).size);
}

function withImage(text: string, imageBytes: number): object[] {
  const url = `data:image/png;base64,${'A'.repeat(imageBytes)}`;
  return [
    { type: 'text', text },
    { type: 'image_url', image_url: { url } },
  ];
}

describe('what the counting thread gets', () => {
  test('is the body, with its characters counted as the limits count them', () => {
    expect(handedOver('Ahoy, Größe 👋')).toMatchObject({ wire: 'chat', chars: 'Ahoy, Größe 👋'.length });
    expect(handedOver('Ahoy')).toMatchObject({ chars: 4 });
  });

  test('is the body of a conversation of any length', () => {
    expect(handedOver('word '.repeat(100_000))).toMatchObject({ wire: 'chat', chars: 500_000 });
  });

  test('is the texts alone if the rest of the body is larger than they are', () => {
    const small = LIMITS.tokenCountOtherBytesMax / 2;
    expect(handedOver(withImage('Ahoy', small))).toMatchObject({ wire: 'chat' });
    expect(handedOver(withImage('Ahoy', 2 * small))).toEqual({ texts: ['Ahoy'], toolTexts: [] });
    const long = 'word '.repeat(small);
    expect(handedOver(withImage(long, 4 * small))).toMatchObject({ wire: 'chat' });
    expect(handedOver(withImage(long, 6 * small))).toEqual({ texts: [long], toolTexts: [] });
  });
});

test('a hold is counted from the body of the call', async () => {
  const fixture = await GatewayFixture.open({ countAboveNanousd: 0n });
  const prompts: (PromptTexts | PromptBody)[] = [];
  const count = async (_order: unknown, prompt: PromptTexts | PromptBody) => {
    prompts.push(prompt);
    return { fixedTokens: 0, scaledTokens: 1, likelyTokens: 1, textTokens: 1 };
  };
  const call = fixture.call();
  const { admission } = await understand({ ...fixture.gateway, countTokens: { count } }, call, openRecord(call));
  expect(admission.counted).not.toBeNull();
  expect(prompts).toEqual([{ wire: 'chat', bytes: call.body, chars: 2 }]);
});
