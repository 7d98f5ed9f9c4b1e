import { join } from 'node:path';
import { exportAdvice, type SetupClient } from '../client.ts';
import { tomlFormat } from '../toml.ts';

export const codex: SetupClient = {
  name: 'codex',
  title: 'Codex CLI',
  format: tomlFormat,
  file: ({ env, home }) => join(env.CODEX_HOME ?? join(home, '.codex'), 'config.toml'),
  paths: [['model'], ['model_provider'], ['model_context_window'], ['web_search'], ['model_providers', 'tollgate']],
  settings: ({ baseUrl, model, keyVariable, limits }) => [
    { path: ['model'], value: JSON.stringify(model) },
    { path: ['model_provider'], value: '"tollgate"' },
    { path: ['model_context_window'], value: limits === null ? null : String(limits.contextTokens) },
    // A tool that the vendor runs has no price here, so it is refused.
    { path: ['web_search'], value: '"disabled"' },
    {
      path: ['model_providers', 'tollgate'],
      value: [
        'name = "Tollgate"',
        `base_url = ${JSON.stringify(baseUrl)}`,
        'wire_api = "responses"',
        ...(keyVariable === null ? [] : [`env_key = ${JSON.stringify(keyVariable)}`]),
      ].join('\n'),
    },
  ],
  advice: ({ keyVariable }) => `Start it with: codex.${exportAdvice(keyVariable)}`,
};
