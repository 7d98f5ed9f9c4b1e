import { join } from 'node:path';
import { exportAdvice, NO_KEY, type SetupClient } from '../client.ts';
import { yamlFormat } from '../yaml.ts';
import { yamlScalar } from '../yaml-scalar.ts';

const MODEL = ['models', 'name', 'Tollgate'];

export const continueCli: SetupClient = {
  name: 'continue',
  title: 'Continue CLI',
  format: yamlFormat,
  file: ({ env, home }) => join(env.CONTINUE_GLOBAL_DIR ?? join(home, '.continue'), 'config.yaml'),
  paths: [['name'], ['version'], ['schema'], MODEL],
  settings: ({ baseUrl, model, keyVariable, limits }) => [
    { path: ['name'], value: 'Local', keepOwn: true },
    { path: ['version'], value: '1.0.0', keepOwn: true },
    { path: ['schema'], value: 'v1', keepOwn: true },
    {
      path: MODEL,
      value: [
        'name: Tollgate',
        'provider: openai',
        `model: ${yamlScalar(model)}`,
        `apiBase: ${yamlScalar(baseUrl)}`,
        `apiKey: ${keyVariable === null ? NO_KEY : `\${{ secrets.${keyVariable} }}`}`,
        'roles: [chat, edit, apply]',
        'capabilities: [tool_use]',
        ...(limits === null ? [] : ['defaultCompletionOptions:', `  contextLength: ${limits.contextTokens}`]),
      ].join('\n'),
    },
  ],
  advice: ({ keyVariable }) => `Start it with: cn.${exportAdvice(keyVariable)}`,
};
