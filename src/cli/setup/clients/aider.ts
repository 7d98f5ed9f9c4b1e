import { join } from 'node:path';
import { NO_KEY, type SetupClient } from '../client.ts';
import { yamlFormat } from '../yaml.ts';
import { yamlScalar } from '../yaml-scalar.ts';

export const aider: SetupClient = {
  name: 'aider',
  title: 'aider',
  format: yamlFormat,
  file: ({ home }) => join(home, '.aider.conf.yml'),
  paths: [['model'], ['openai-api-base'], ['openai-api-key'], ['show-model-warnings']],
  settings: ({ baseUrl, model, keyVariable }) => [
    { path: ['model'], value: yamlScalar(`openai/${model}`) },
    { path: ['openai-api-base'], value: yamlScalar(baseUrl) },
    // Its file cannot name a variable; a key of another provider must not be sent to the gateway.
    { path: ['openai-api-key'], value: keyVariable === null ? NO_KEY : null },
    // Otherwise it asks at every start whether an unknown model is intended.
    { path: ['show-model-warnings'], value: 'false' },
  ],
  advice: ({ keyVariable }) =>
    keyVariable === null
      ? 'Start it with: aider.'
      : `Start it with: OPENAI_API_KEY="$${keyVariable}" aider. Its settings file cannot name a variable.`,
};
