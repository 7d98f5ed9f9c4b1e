/** What a model can do, in the words of the catalog. */
export const CAPABILITIES = [
  'chat',
  'tools',
  'images',
  'embeddings',
  'decisions',
  'reasoning',
  'structured_outputs',
  'prompt_caching',
  'messages',
  'completions',
] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** Where models with a capability are called; the other capabilities are asked for by a field, not by a route. */
export const ROUTE_OF_CAPABILITY: Partial<Record<Capability, string>> = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  completions: '/v1/completions',
  embeddings: '/v1/embeddings',
  decisions: '/v1/systemone',
};
