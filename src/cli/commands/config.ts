import type { Catalog } from '../../catalog/catalog.ts';
import { CatalogError } from '../../catalog/rows.ts';
import { type Config, ConfigError, type ConfigProblem, describeProblem } from '../../config/config.ts';
import { describeUnknownVariable } from '../../config/unknown-variables.ts';
import { checkMasterKey, describeConsole } from '../checks.ts';
import type { CommandGroup, CommandSpec } from '../command.ts';
import { describeHosts, describeUnpriced } from '../describe-hosts.ts';
import { EXIT } from '../exit-codes.ts';
import type { Finding } from '../finding.ts';
import { snakeCased } from '../snake-case.ts';
import { formatRecord } from '../table.ts';
import { SERVER_OPTIONS } from './serve.ts';

const checkCommand: CommandSpec = {
  name: 'check',
  summary: 'show the settings in effect, or what is wrong with them; exits with 1 if something is',
  options: SERVER_OPTIONS,
  examples: ['tollgate config check', 'tollgate config check --config ./other.json --json'],
  async run(session) {
    try {
      const config = await session.composition.lookForHosts(session.config('read'));
      refuseMasterKey(checkMasterKey(config));
      const catalog = session.composition.catalogFor(config);
      const text = JSON.stringify({ ok: true, config: shown(config), not_priced: catalog.unpriced });
      session.show({ text, result: config }, () => describeConfig(config, catalog));
      for (const variable of config.unknownVariables) session.advise(`${describeUnknownVariable(variable)}.`);
      return EXIT.ok;
    } catch (error) {
      const problems = problemsOf(error);
      if (session.json) session.print(JSON.stringify({ ok: false, problems }));
      else for (const problem of problems) session.say(describeProblem(problem));
      return EXIT.no;
    }
  },
};

export const configCommands: CommandGroup = { name: 'config', summary: 'check the settings', commands: [checkCommand] };

function problemsOf(error: unknown): readonly ConfigProblem[] {
  if (error instanceof ConfigError) return error.problems;
  if (error instanceof CatalogError) return [{ source: '', path: '', message: error.message }];
  throw error;
}

/** Without a master key the gateway would not start. */
function refuseMasterKey({ status, detail }: Finding): void {
  if (status === 'failure') throw new ConfigError([{ source: '', path: '', message: detail }]);
}

/** The settings without secrets, which serialize as hidden, and without the long lists. */
function shown(config: Config): unknown {
  const hosts = config.hosts.map(({ row, keySource, local, models, found = [], proxy }) => ({
    name: row.name,
    baseUrl: row.baseUrl === '' ? null : row.baseUrl,
    keySource,
    local,
    proxy: proxy === undefined ? null : { name: proxy.name, source: proxy.source },
    wires: row.wires,
    models: [...models, ...found].map(({ id }) => id),
  }));
  const { models, prices, hostsWithoutKey, guessedHosts: _, masterKey, settingSources, ...rest } = config;
  return snakeCased({
    ...rest,
    masterKey: { kind: masterKey.kind, source: masterKey.source },
    hosts,
    hostsWithoutKey: hostsWithoutKey.map(({ name }) => name),
    models: models.map(({ id }) => id),
    prices: [...prices.keys()],
    settingSources: Object.fromEntries(settingSources),
  });
}

function describeConfig(config: Config, catalog: Catalog): string {
  return formatRecord([
    ['file', config.file ?? 'none'],
    ['listen', `${config.listen.host}:${config.listen.port}`],
    ['management API', describeConsole(config)],
    ['mode', config.hosted ? 'hosted' : 'local'],
    ['data', config.dataFolder],
    ['store', config.store?.name ?? 'in the data folder'],
    ['master key', checkMasterKey(config).detail],
    ['log level', config.logLevel],
    ['transport', config.transport],
    ['workers', String(config.workers)],
    ['frame memory', config.frameMemory ? 'on' : 'off'],
    ['hosts', describeHosts(config.hosts).join(', ') || (config.hosts.length > 0 ? 'only the simulated host' : 'none')],
    ['hosts without a key', config.hostsWithoutKey.map(({ name }) => name).join(', ') || 'none'],
    ['own models', config.models.map(({ id }) => id).join(', ') || 'none'],
    ['own prices', [...config.prices.keys()].join(', ') || 'none'],
    ...describeUnpriced(catalog),
    ['default model', config.defaultModel ?? 'the cheapest that fits'],
  ]);
}
