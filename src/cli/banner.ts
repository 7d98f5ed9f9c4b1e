import type { Catalog } from '../catalog/catalog.ts';
import type { CatalogModel } from '../catalog/model.ts';
import type { Config } from '../config/config.ts';
import { shellWord } from '../kit/shell-words.ts';
import { describeHosts, describeMissingKeys, describeUnpriced } from './describe-hosts.ts';
import { formatRecord } from './table.ts';

interface BannerFacts {
  readonly config: Config;
  readonly program: string;
  readonly catalog: Pick<Catalog, 'list' | 'find' | 'unpriced'>;
  readonly url: string;
  /** The address of health and metrics, when they have a listener of their own. */
  readonly operationsUrl: string | null;
  /** Where people open the console; null if it is not served. */
  readonly consoleLink: string | null;
}

/** What `serve` prints once it is ready: address, mode, hosts, and a command to try. */
export function banner(facts: BannerFacts): string {
  const { config, url } = facts;
  const mode = config.hosted ? 'hosted: every call needs a key' : 'local: no key needed on this machine';
  return [`Tollgate is listening on ${url} (${mode})\n`, formatRecord(describeFacts(facts)), describeTrial(facts)].join(
    '\n',
  );
}

function describeFacts({ config, catalog, operationsUrl, consoleLink }: BannerFacts): [string, string][] {
  return [
    ...(consoleLink === null ? [] : [['console', consoleLink] as [string, string]]),
    ['data', config.store?.name ?? config.dataFolder],
    ['config file', config.file ?? 'none'],
    ['hosts', describeHostsIn(config, catalog.list())],
    ['models', describeModels(config, catalog.list())],
    ...describeUnpriced(catalog),
    ...(operationsUrl === null ? [] : [['health, metrics', operationsUrl] as [string, string]]),
  ];
}

/** The hosts in use and where each came from; never a key. */
function describeHostsIn(config: Config, models: readonly CatalogModel[]): string {
  const count = (name: string): number => models.filter(({ hosts }) => hosts.some(({ host }) => host === name)).length;
  const found = describeHosts(config.hosts, count);
  if (found.length > 0) return found.join(', ');
  const missing = describeMissingKeys(config);
  return missing === '' ? 'none' : `none; set ${missing} to call real models`;
}

function describeModels(config: Config, models: readonly CatalogModel[]): string {
  const simulated = models.filter((model) => isSimulated(config, model)).length;
  if (simulated === 0) return `${models.length} priced`;
  return simulated === models.length
    ? `${simulated} priced, all simulated`
    : `${models.length} priced, ${simulated} of them simulated`;
}

function isSimulated(config: Config, model: CatalogModel): boolean {
  const simulators = config.hosts.filter(({ row }) => row.simulated).map(({ row }) => row.name);
  return model.hosts.every(({ host }) => simulators.includes(host));
}

function describeTrial(facts: BannerFacts): string {
  const model = trialModel(facts);
  if (model === null)
    return 'No model is served. Set a provider key, add a host to the config file, or remove --no-sim.\n';
  const note = isSimulated(facts.config, model) ? ' (simulated: no real model is called)' : '';
  const key = facts.config.hosted ? ' -H "authorization: Bearer $KEY"' : '';
  const body = JSON.stringify({ model: model.id, messages: [{ role: 'user', content: 'Hello' }] });
  const call = `curl -i ${shellWord(`${facts.url}/v1/chat/completions`)}${key} -H 'content-type: application/json' -d '${body}'`;
  const { hosted, store } = facts.config;
  const steps = hosted ? [...mintingSteps(facts), call] : [call];
  const where = hosted && store !== null ? `, in a shell where TOLLGATE_STORE is set to ${store.name}` : '';
  return `Try it${note}${where}:\n\n${steps.map((step) => `  ${step}\n`).join('')}`;
}

/**
 * Commands that can be copied as they are. They name the data folder, because another shell may have another default.
 * They do not name a database: its URL may contain a password.
 */
function mintingSteps({ program, config: { dataFolder, store } }: BannerFacts): string[] {
  const books = store === null ? ` --data ${shellWord(dataFolder)}` : '';
  return [
    `${program} accounts create ada${books}`,
    `${program} accounts credit ada 5${books}`,
    `KEY=$(${program} keys mint --account ada${books})`,
  ];
}

/** The configured default model, else the cheapest real model, else a simulated one. */
function trialModel({ config, catalog }: BannerFacts): CatalogModel | null {
  const chosen = config.defaultModel === null ? undefined : catalog.find(config.defaultModel);
  if (chosen?.caps.has('chat')) return chosen;
  const talking = catalog.list().filter((model) => model.caps.has('chat'));
  const real = talking.filter((model) => !isSimulated(config, model));
  return (real.length > 0 ? real : talking).toSorted(byPrice)[0] ?? null;
}

function byPrice(a: CatalogModel, b: CatalogModel): number {
  const difference = totalRate(a) - totalRate(b);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

function totalRate({ price }: CatalogModel): bigint {
  return price.inputNanousdPerMillion + price.outputNanousdPerMillion;
}
