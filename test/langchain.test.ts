import { ChatAnthropic } from '@langchain/anthropic';
import { type AIMessage, type BaseMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';
import { TRANSPORTS } from './transports.ts';

/** LangChain's two chat models, unmodified. */

let harness: Harness;

const parameters = { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] };
const TOOLS = ['weather', 'clock'].map((name) => ({ type: 'function' as const, function: { name, parameters } }));

function openai(model: string, useResponsesApi: boolean): ChatOpenAI {
  return new ChatOpenAI({
    model,
    apiKey: 'x',
    useResponsesApi,
    zdrEnabled: true,
    configuration: { baseURL: `${harness.url}/v1` },
  });
}

const CLIENTS = {
  'ChatOpenAI (chat) and a chat model': () => openai('sim-gpt', false),
  'ChatOpenAI (chat) and a messages model': () => openai('sim-claude', false),
  'ChatOpenAI (responses) and a chat model': () => openai('sim-gpt', true),
  'ChatOpenAI (responses) and a responses model': () => openai('sim-responses', true),
  'ChatAnthropic and a messages model': () =>
    new ChatAnthropic({
      model: 'sim-claude',
      apiKey: 'x',
      anthropicApiUrl: harness.url,
      maxTokens: 4000,
      thinking: { type: 'enabled', budget_tokens: 1024 },
    }),
};

describe.each(TRANSPORTS)('over the %s transport', (transport) => {
  beforeAll(async () => {
    harness = await startHarness({ transport });
  });

  afterAll(async () => {
    await harness.expectCleanBooks();
    await harness.stop();
  });

  describe.each(Object.entries(CLIENTS))('%s', (_name, client) => {
    test('invoke does a loop of two parallel tool calls', async () => {
      const model = client().bindTools(TOOLS);
      const messages: BaseMessage[] = [new HumanMessage('Call weather and call clock.')];
      const first = (await model.invoke(messages)) as AIMessage;
      expect(first.tool_calls?.map(({ name }) => name)).toEqual(['weather', 'clock']);
      messages.push(first);
      for (const { id, name } of first.tool_calls!) {
        messages.push(new ToolMessage({ tool_call_id: id!, content: name === 'weather' ? 'sunny' : 'noon' }));
      }
      const second = await model.invoke(messages);
      expect(second.text).toContain('sunny');
      expect(second.text).toContain('noon');
    });

    test('stream gives the answer in pieces, with its usage', async () => {
      let text = '';
      let outputTokens = 0;
      for await (const chunk of await client().stream('Hi')) {
        const { usage_metadata: usage } = chunk as unknown as { usage_metadata?: { output_tokens: number } };
        text += chunk.text;
        outputTokens = Math.max(outputTokens, usage?.output_tokens ?? 0);
      }
      expect(text).toContain('simulated');
      expect(outputTokens).toBeGreaterThan(0);
    });
  });
});
