import { describe, expect, test } from 'vitest';
import { jsonText, refusalBy } from '../../../test/chat-wire.ts';
import { LIMITS } from '../../limits.ts';
import type { Peek } from '../peek.ts';
import { peek, texts } from './peek.ts';

const ASK = { model: 'atlas-embed', input: 'Where is the ferry?' };

const peekAt = (more: object): Peek => peek(jsonText({ ...ASK, ...more }));
const refusal = (more: object) => refusalBy(() => peekAt(more));

describe('a request', () => {
  test('needs an embedding model, writes nothing, never streams', () => {
    expect(peekAt({ stream: false, user: 'u-1' })).toMatchObject({
      model: 'atlas-embed',
      stream: false,
      outputLimit: null,
      defaultOutputLimit: 0,
      answers: 1,
      needs: [{ capability: 'embeddings', param: 'model' }],
      labels: { user: 'u-1' },
      dimensions: null,
    });
    expect(peekAt({ dimensions: 256, encoding_format: 'float' }).dimensions).toBe(256);
  });

  test.each([
    ['one string', 'über', 1, { textBytes: 5, tokenIds: 0 }],
    ['a batch of strings', ['ab', 'cde'], 2, { textBytes: 5, tokenIds: 0 }],
    ['a bare list of token ids, which is one input', [4438, 656, 358], 1, { textBytes: 0, tokenIds: 3 }],
    ['a batch of lists of token ids', [[1, 2], [3]], 2, { textBytes: 0, tokenIds: 3 }],
    ['a batch of both', ['ab', [3]], 2, { textBytes: 2, tokenIds: 1 }],
  ])('may have %s', (_, input, prompts, size) => {
    expect(peekAt({ input })).toMatchObject({ prompts, size: { ...size, messages: prompts } });
  });

  test('weighs what a host may read with each input', () => {
    const body = { ...ASK, input: ['ab', 'cd', [1]], instruction: 'query: ', truncation: false };
    expect(peek(jsonText(body)).size.textBytes).toBe(4 + 3 * 7);
    expect(texts(jsonText(body)).texts.join('').length).toBe(4 + 3 * 7);
  });

  test('may hold as many inputs as the vendor takes', () => {
    expect(peekAt({ input: Array(LIMITS.embeddingInputsMax).fill('a') }).prompts).toBe(2048);
    expect(refusal({ input: Array(LIMITS.embeddingInputsMax + 1).fill('a') })).toMatchObject({ param: 'input' });
  });
});

describe('what is refused', () => {
  test.each([
    [{ input: undefined }, 'input', 'missing_required_parameter'],
    [{ input: null }, 'input', 'missing_required_parameter'],
    [{ input: '' }, 'input', 'invalid_value'],
    [{ input: [] }, 'input', 'invalid_value'],
    [{ input: 7 }, 'input', 'invalid_value'],
    [{ input: { text: 'a' } }, 'input', 'invalid_value'],
    [{ input: ['a', ''] }, 'input[1]', 'invalid_value'],
    [{ input: ['a', 7] }, 'input[1]', 'invalid_value'],
    [{ input: [1, -1] }, 'input[0]', 'invalid_value'],
    [{ input: [[1], []] }, 'input[1]', 'invalid_value'],
    [{ input: [[1], [0.5]] }, 'input[1]', 'invalid_value'],
    [{ model: undefined }, 'model', 'missing_required_parameter'],
    [{ model: '' }, 'model', 'invalid_value'],
    [{ dimensions: -1 }, 'dimensions', 'invalid_value'],
    [{ dimensions: 0 }, 'dimensions', 'invalid_value'],
    [{ dimensions: 12.5 }, 'dimensions', 'invalid_value'],
    [{ dimensions: '256' }, 'dimensions', 'invalid_value'],
    [{ encoding_format: 'int8' }, 'encoding_format', 'invalid_value'],
    [{ user: 7 }, 'user', 'invalid_value'],
    [{ stream: true }, 'stream', 'unsupported_parameter'],
    [{ provider: { only: ['x'] } }, 'provider', 'unsupported_feature'],
    [{ models: ['a', 'b'] }, 'models', 'unsupported_feature'],
    [{ truncation: true }, 'truncation', 'unsupported_feature'],
  ])('%j by its name', (more, param, code) => {
    expect(refusal(more)).toMatchObject({ param, code });
  });

  test('a body that is not an object', () => {
    expect(refusalBy(() => peek(jsonText('"x"')))).toMatchObject({ code: 'invalid_request_body' });
  });
});
