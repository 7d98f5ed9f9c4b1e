import { join } from 'node:path';
import { exportAdvice, NO_KEY, type SetupClient } from '../client.ts';
import { jsoncFormat } from '../jsonc.ts';

export const opencode: SetupClient = {
  name: 'opencode',
  title: 'opencode',
  format: jsoncFormat,
  file({ configHome, exists }) {
    const file = join(configHome, 'opencode', 'opencode.json');
    // It reads both, and a setting of the second replaces that of the first.
    return exists(`${file}c`) ? `${file}c` : file;
  },
  paths: [['model'], ['provider', 'tollgate']],
  settings({ baseUrl, model, keyVariable, limits }) {
    // Without a limit it asks for 32,000 tokens of output, which many models refuse.
    const limit = limits === null ? {} : { limit: { context: limits.contextTokens, output: limits.outputTokens } };
    const provider = {
      npm: '@ai-sdk/openai-compatible',
      name: 'Tollgate',
      options: { baseURL: baseUrl, apiKey: keyVariable === null ? NO_KEY : `{env:${keyVariable}}` },
      models: { [model]: { name: model, ...limit } },
    };
    return [
      { path: ['model'], value: JSON.stringify(`tollgate/${model}`) },
      { path: ['provider', 'tollgate'], value: JSON.stringify(provider, null, 2) },
    ];
  },
  advice: ({ keyVariable }) => `Start it with: opencode.${exportAdvice(keyVariable)}`,
};
