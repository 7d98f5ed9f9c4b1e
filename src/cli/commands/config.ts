import { type Config, ConfigError, describeProblem } from '../../config.ts';
import { EXIT } from '../exit-codes.ts';
import type { Branch, Leaf } from '../leaf.ts';
import { formatRecord } from '../table.ts';
import { SERVER_OPTIONS } from './serve.ts';

const checkLeaf: Leaf = {
  name: 'check',
  summary: 'say what settings are in force, or what is wrong with them; the exit code is 1 if something is',
  options: SERVER_OPTIONS,
  examples: ['tollgate config check', 'tollgate config check --config ./other.json --json'],
  async run(session) {
    try {
      const config = session.config('read');
      session.show({ text: JSON.stringify({ ok: true, config: shown(config) }), result: config }, describeConfig);
      return EXIT.ok;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      if (session.json) session.print(JSON.stringify({ ok: false, problems: error.problems }));
      else for (const problem of error.problems) session.say(describeProblem(problem));
      return EXIT.no;
    }
  },
};

export const configBranch: Branch = { name: 'config', summary: 'the settings', leaves: [checkLeaf] };

/** Secrets conceal themselves when they are written as JSON; of the rest only what is worth a look. */
function shown(config: Config): object {
  const hosts = config.hosts.map(({ row, keySource, models }) => ({
    name: row.name,
    base_url: row.baseUrl === '' ? null : row.baseUrl,
    key_source: keySource,
    models: models.map(({ id }) => id),
  }));
  const { models, prices, hostsWithoutKey, ...rest } = config;
  return {
    ...rest,
    hosts,
    hostsWithoutKey: hostsWithoutKey.map(({ name }) => name),
    models: models.map(({ id }) => id),
    prices: [...prices.keys()],
  };
}

function describeConfig(config: Config): string {
  return formatRecord([
    ['file', config.file ?? 'none'],
    ['listen', `${config.listen.host}:${config.listen.port}`],
    ['mode', config.hosted ? 'hosted' : 'local'],
    ['data', config.dataFolder],
    ['log level', config.logLevel],
    [
      'hosts',
      config.hosts.map(({ row, keySource }) => row.name + (keySource === null ? '' : ` (${keySource})`)).join(', ') ||
        'none',
    ],
    ['without a key', config.hostsWithoutKey.map(({ name }) => name).join(', ') || 'none'],
    ['own models', config.models.map(({ id }) => id).join(', ') || 'none'],
    ['own prices', [...config.prices.keys()].join(', ') || 'none'],
    ['default model', config.defaultModel ?? 'the cheapest that fits'],
  ]);
}
