import { join } from 'node:path';
import { NO_KEY, type SetupClient } from '../client.ts';
import { jsoncFormat } from '../jsonc.ts';

const PROVIDER = 'openai-compatible';
/** When the entry was saved. Cline discards a file without it, and updates it by itself. */
const SAVED = '2026-01-01T00:00:00.000Z';

export const cline: SetupClient = {
  name: 'cline',
  title: 'Cline CLI',
  format: jsoncFormat,
  file({ env, home }) {
    const folder = env.CLINE_DATA_DIR ?? join(env.CLINE_DIR ?? join(home, '.cline'), 'data');
    return env.CLINE_PROVIDER_SETTINGS_PATH ?? join(folder, 'settings', 'providers.json');
  },
  paths: [['version'], ['lastUsedProvider'], ['providers', PROVIDER]],
  settings({ baseUrl, model, keyVariable }) {
    const key = keyVariable === null ? { apiKey: NO_KEY } : {};
    const entry = { settings: { provider: PROVIDER, ...key, model, baseUrl }, updatedAt: SAVED, tokenSource: 'manual' };
    return [
      { path: ['version'], value: '1', keepOwn: true },
      { path: ['lastUsedProvider'], value: JSON.stringify(PROVIDER) },
      { path: ['providers', PROVIDER], value: JSON.stringify(entry, null, 2) },
    ];
  },
  advice: ({ keyVariable }) =>
    keyVariable === null
      ? 'Start it with: cline.'
      : `Start it with: cline --key "$${keyVariable}". Its settings file cannot name a variable.`,
};
