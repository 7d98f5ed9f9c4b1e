/** A small call on a billed route, to a host of the same wire or of another. */
interface WireCase {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly streams: boolean;
}

export const MESSAGES = [{ role: 'user', content: 'Hello' }];
export const QUESTIONS = { sure: { type: 'noul' } };

export const WIRE_CASES: Readonly<Record<string, WireCase>> = {
  'chat, same wire': { path: '/v1/chat/completions', body: { model: 'sim-gpt', messages: MESSAGES }, streams: true },
  'chat to messages': {
    path: '/v1/chat/completions',
    body: { model: 'sim-claude', messages: MESSAGES },
    streams: true,
  },
  'chat to responses': {
    path: '/v1/chat/completions',
    body: { model: 'sim-responses', messages: MESSAGES },
    streams: true,
  },
  'messages, same wire': {
    path: '/v1/messages',
    body: { model: 'sim-claude', max_tokens: 500, messages: MESSAGES },
    streams: true,
  },
  'messages at the host': {
    path: '/messages?beta=true',
    body: { model: 'sim-claude', max_tokens: 500, messages: MESSAGES },
    streams: true,
  },
  'responses, same wire': { path: '/v1/responses', body: { model: 'sim-responses', input: 'Hello' }, streams: true },
  'responses to chat': { path: '/v1/responses', body: { model: 'sim-gpt', input: 'Hello' }, streams: true },
  'responses to messages': { path: '/v1/responses', body: { model: 'sim-claude', input: 'Hello' }, streams: true },
  'completions to chat': { path: '/v1/completions', body: { model: 'sim-gpt', prompt: 'Hello' }, streams: true },
  'completions to messages': { path: '/v1/completions', body: { model: 'sim-claude', prompt: 'Hello' }, streams: true },
  embeddings: { path: '/v1/embeddings', body: { model: 'sim-embed', input: 'Hello' }, streams: false },
  'typed decisions': {
    path: '/v1/systemone',
    body: { model: 'sim-decide', state: 'Hello', questions: QUESTIONS },
    streams: false,
  },
  'typed decisions, newer spelling': {
    path: '/v1/decisions',
    body: {
      model: 'sim-decide',
      input: 'Hello',
      questions: [{ type: 'predicate', name: 'sure', instructions: 'Is it?' }],
    },
    streams: false,
  },
};
