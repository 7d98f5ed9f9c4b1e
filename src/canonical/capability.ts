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
