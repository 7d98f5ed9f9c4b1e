import { join } from 'node:path';
import type { SetupClient } from '../client.ts';
import { yamlFormat } from '../yaml.ts';
import { yamlScalar } from '../yaml-scalar.ts';

const MODEL = ['', 'model_id', 'tollgate'];

export const llm: SetupClient = {
  name: 'llm',
  title: 'llm',
  format: yamlFormat,
  file({ env, home, configHome, isMac }) {
    const usual = isMac ? join(home, 'Library', 'Application Support') : configHome;
    return join(env.LLM_USER_PATH ?? join(usual, 'io.datasette.llm'), 'extra-openai-models.yaml');
  },
  paths: [MODEL],
  settings: ({ baseUrl, model, keyVariable }) => [
    {
      path: MODEL,
      value: [
        'model_id: tollgate',
        `model_name: ${yamlScalar(model)}`,
        `api_base: ${yamlScalar(baseUrl)}`,
        ...(keyVariable === null ? [] : ['api_key_name: tollgate']),
        'supports_tools: true',
        'supports_schema: true',
      ].join('\n'),
    },
  ],
  advice: ({ keyVariable }) => {
    const key = keyVariable === null ? '' : ` Store the key once: llm keys set tollgate --value "$${keyVariable}".`;
    return `Start it with: llm -m tollgate "Hello".${key}`;
  },
};
