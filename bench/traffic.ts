/** The request and the response of every slice: about 2 KB each, or a stream of this many chunks. */

export type Shape = 'buffered' | 'streamed';
export const SHAPES: readonly Shape[] = ['buffered', 'streamed'];

export const STREAM_CHUNKS = 20;
/** The catalog and the upstream name the model differently, so the relay must write the name into every frame. */
export const CATALOG_MODEL = 'bench';
export const UPSTREAM_MODEL = 'bench-2026-05-01';

const REQUEST_BYTES = 2048;
const SENTENCE = 'The quick brown fox jumps over the lazy dog while the "gateway" counts every token it sees.\n';

export function requestBody(model: string, shape: Shape): string {
  const stream = shape === 'streamed' ? { stream: true, stream_options: { include_usage: true } } : {};
  const system = { role: 'system', content: 'You are a helpful assistant that answers briefly.' };
  const write = (content: string): string =>
    JSON.stringify({
      model,
      temperature: 0.7,
      max_tokens: 512,
      ...stream,
      messages: [system, { role: 'user', content }],
    });
  let content = '';
  while (write(content + SENTENCE).length <= REQUEST_BYTES) content += SENTENCE;
  return write(content + 'x'.repeat(REQUEST_BYTES - write(content).length));
}

const USAGE = {
  prompt_tokens: 460,
  completion_tokens: 300,
  total_tokens: 760,
  prompt_tokens_details: { cached_tokens: 128, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
};
const IDENTITY = { id: 'chatcmpl-bench0123456789abcdefghijk', created: 1_794_700_800, model: UPSTREAM_MODEL };
const EXTRAS = { service_tier: 'default', system_fingerprint: 'fp_0123456789' };

export function bufferedAnswer(): string {
  const message = { role: 'assistant', content: SENTENCE.repeat(15), refusal: null, annotations: [] };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }];
  return JSON.stringify({ ...IDENTITY, object: 'chat.completion', choices, usage: USAGE, ...EXTRAS });
}

/** A role, this many pieces of text, a finish reason, the usage, the terminator: each a frame of its own. */
export function streamedFrames(): string[] {
  const frame = (choices: unknown[], usage: unknown): string =>
    `data: ${JSON.stringify({ ...IDENTITY, object: 'chat.completion.chunk', ...EXTRAS, choices, usage })}\n\n`;
  const choice = (delta: object, finish: string | null) => [{ index: 0, delta, logprobs: null, finish_reason: finish }];
  return [
    frame(choice({ role: 'assistant', content: '', refusal: null }, null), null),
    ...Array.from({ length: STREAM_CHUNKS }, (_, at) => frame(choice({ content: ` token ${at}` }, null), null)),
    frame(choice({}, 'stop'), null),
    frame([], USAGE),
    'data: [DONE]\n\n',
  ];
}
