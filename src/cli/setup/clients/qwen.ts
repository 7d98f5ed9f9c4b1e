import { join } from 'node:path';
import { exportAdvice, NO_KEY, type SetupClient } from '../client.ts';
import { jsoncFormat } from '../jsonc.ts';

export const qwen: SetupClient = {
  name: 'qwen',
  title: 'Qwen Code',
  format: jsoncFormat,
  file: ({ home }) => join(home, '.qwen', 'settings.json'),
  paths: [
    ['security', 'auth', 'selectedType'],
    ['security', 'auth', 'baseUrl'],
    ['security', 'auth', 'apiKey'],
    ['model', 'name'],
    ['model', 'generationConfig', 'contextWindowSize'],
    ['model', 'generationConfig', 'samplingParams', 'max_tokens'],
  ],
  settings: ({ baseUrl, model, keyVariable, limits }) => [
    { path: ['security', 'auth', 'selectedType'], value: '"openai"' },
    { path: ['security', 'auth', 'baseUrl'], value: JSON.stringify(baseUrl) },
    { path: ['security', 'auth', 'apiKey'], value: JSON.stringify(keyVariable === null ? NO_KEY : `$${keyVariable}`) },
    { path: ['model', 'name'], value: JSON.stringify(model) },
    {
      path: ['model', 'generationConfig', 'contextWindowSize'],
      value: limits === null ? null : String(limits.contextTokens),
    },
    // Without it, it asks for 32,000 tokens of output, which many models refuse.
    {
      path: ['model', 'generationConfig', 'samplingParams', 'max_tokens'],
      value: limits === null ? null : String(limits.outputTokens),
    },
  ],
  advice: ({ keyVariable }) => `Start it with: qwen.${exportAdvice(keyVariable)}`,
};
