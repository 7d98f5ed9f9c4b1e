import { join } from 'node:path';
import { exportAdvice, NO_KEY, type SetupClient } from '../client.ts';
import { jsoncFormat } from '../jsonc.ts';

export const claude: SetupClient = {
  name: 'claude',
  title: 'Claude Code',
  format: jsoncFormat,
  capability: 'messages',
  file: ({ env, home }) => join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json'),
  paths: [
    ['model'],
    ['apiKeyHelper'],
    ['env', 'ANTHROPIC_BASE_URL'],
    ['env', 'ANTHROPIC_AUTH_TOKEN'],
    ['env', 'ANTHROPIC_API_KEY'],
    ['env', 'ANTHROPIC_DEFAULT_HAIKU_MODEL'],
    ['env', 'CLAUDE_CODE_MAX_OUTPUT_TOKENS'],
    ['env', 'CLAUDE_CODE_MAX_CONTEXT_TOKENS'],
  ],
  settings: ({ baseUrl, model, keyVariable, limits }) => [
    { path: ['model'], value: JSON.stringify(model) },
    // It runs this command to get its key.
    { path: ['apiKeyHelper'], value: keyVariable === null ? null : JSON.stringify(`printenv ${keyVariable}`) },
    // It adds the version itself.
    { path: ['env', 'ANTHROPIC_BASE_URL'], value: JSON.stringify(baseUrl.replace(/\/v1$/, '')) },
    {
      path: ['env', 'ANTHROPIC_AUTH_TOKEN'],
      value: keyVariable === null ? JSON.stringify(NO_KEY) : withoutKey('ANTHROPIC_AUTH_TOKEN', keyVariable),
    },
    { path: ['env', 'ANTHROPIC_API_KEY'], value: withoutKey('ANTHROPIC_API_KEY', keyVariable) },
    // For titles and summaries it would call another model.
    { path: ['env', 'ANTHROPIC_DEFAULT_HAIKU_MODEL'], value: JSON.stringify(model) },
    // Without it, it asks for 32,000 tokens of output.
    {
      path: ['env', 'CLAUDE_CODE_MAX_OUTPUT_TOKENS'],
      value: limits === null ? null : JSON.stringify(String(Math.min(limits.outputTokens, OUTPUT_TOKENS))),
    },
    {
      path: ['env', 'CLAUDE_CODE_MAX_CONTEXT_TOKENS'],
      value: limits === null ? null : JSON.stringify(String(limits.contextTokens)),
    },
  ],
  advice: ({ keyVariable }) => `Start it with: claude.${exportAdvice(keyVariable)}`,
};

/**
 * It would send a key of the vendor from the user's shell beside that of the gateway, which refuses two different keys. Null
 * if the variable holds the key of the gateway.
 */
function withoutKey(variable: string, keyVariable: string | null): string | null {
  return variable === keyVariable ? null : JSON.stringify('');
}

/** What it asks for by itself. */
const OUTPUT_TOKENS = 32_000;
