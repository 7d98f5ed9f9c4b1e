/** What a model can do, by the names the catalog uses. */
export const CAPABILITIES = [
  'chat',
  'tools',
  'images',
  'documents',
  'embeddings',
  'decisions',
  'reasoning',
  'structured_outputs',
  'prompt_caching',
  'messages',
  'completions',
] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** The route that each capability is called on; the other capabilities are asked for by a field of the request. */
export const ROUTE_OF_CAPABILITY: Partial<Record<Capability, string>> = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  completions: '/v1/completions',
  embeddings: '/v1/embeddings',
  decisions: '/v1/systemone',
};
