import { expect, test } from 'vitest';
import type { Block, CanonicalRequest } from '../../canonical/request.ts';
import { writeRequest } from './write-request.ts';

test('a signature is read once, however many calls have its id', () => {
  let reads = 0;
  const opaque = {
    vendor: 'maker',
    form: 'signature' as const,
    id: 'a',
    get data() {
      reads++;
      return '["not a signature"]';
    },
  };
  const call: Block = { kind: 'tool-call', id: 'a', name: 'open', argumentsJson: '{}' };
  const blocks: Block[] = [{ kind: 'reasoning', text: '', opaque }, ...Array.from({ length: 50 }, () => call)];
  const request = {
    messages: [{ role: 'assistant', blocks }],
    tools: [],
    toolChoice: null,
    responseFormat: null,
    reasoning: null,
    sampling: { topK: null, stop: [] },
  } as unknown as CanonicalRequest;
  const terms = { hostModel: 'm', stream: false, outputLimit: 5, outputLimitField: 'max_tokens', thinking: null };
  writeRequest(request, { ...terms, reasoningEffort: null, quirks: { seals: 'maker', unsignedCall: {} } });
  expect(reads).toBe(1);
});
