/** Streams that are long enough to measure their chunks, not their beginning and end. */
export const HUB_CHUNKS = 200;

/** Every way a stream can pass: the client's path and body, and the model whose host is reached that way. */
export const ROUTES: Readonly<Record<string, { readonly path: string; readonly body: object }>> = {
  chat: chat('hub-chat'),
  'chat to messages': chat('hub-messages'),
  'chat to responses': chat('hub-responses'),
  messages: {
    path: '/v1/messages',
    body: { model: 'hub-messages', max_tokens: 512, stream: true, messages: [{ role: 'user', content: 'Hello' }] },
  },
  'messages to chat': {
    path: '/v1/messages',
    body: { model: 'hub-chat', max_tokens: 512, stream: true, messages: [{ role: 'user', content: 'Hello' }] },
  },
  responses: { path: '/v1/responses', body: { model: 'hub-responses', stream: true, input: 'Hello' } },
  'responses to chat': { path: '/v1/responses', body: { model: 'hub-chat', stream: true, input: 'Hello' } },
};

function chat(model: string): { path: string; body: object } {
  return {
    path: '/v1/chat/completions',
    body: { model, max_tokens: 512, stream: true, messages: [{ role: 'user', content: 'Hello' }] },
  };
}
