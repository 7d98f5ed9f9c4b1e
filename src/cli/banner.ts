import type { Catalog } from '../catalog/catalog.ts';
import type { CatalogModel } from '../catalog/model.ts';
import type { Config } from '../config/config.ts';
import { shellWord } from '../kit/shell-words.ts';
import { describeHosts, describeMissingKeys, describeUnpriced } from './describe-hosts.ts';
import { formatRecord } from './table.ts';

export interface BannerFacts {
  readonly config: Config;
  readonly catalog: Pick<Catalog, 'list' | 'find' | 'unpriced'>;
  readonly url: string;
  /** Where health and metrics are, if not beside the rest. */
  readonly operationsUrl: string | null;
}

/** What `serve` says when it is ready: where, as what, with what, and how to try it at once. */
export function banner(facts: BannerFacts): string {
  const { config, url } = facts;
  const mode = config.hosted ? 'hosted: every call needs a key' : 'local: no key needed on this machine';
  return [`Tollgate serves ${url} (${mode})\n`, formatRecord(describeFacts(facts)), describeTrial(facts)].join('\n');
}

function describeFacts({ config, catalog, operationsUrl }: BannerFacts): [string, string][] {
  return [
    ['data', config.store?.name ?? config.dataFolder],
    ['config file', config.file ?? 'none'],
    ['hosts', describeHostsIn(config, catalog.list())],
    ['models', describeModels(config, catalog.list())],
    ...describeUnpriced(catalog),
    ...(operationsUrl === null ? [] : [['health, metrics', operationsUrl] as [string, string]]),
  ];
}

/** Which hosts were found, and how: names only, never a key. */
function describeHostsIn(config: Config, models: readonly CatalogModel[]): string {
  const count = (name: string): number => models.filter(({ hosts }) => hosts.some(({ host }) => host === name)).length;
  const found = describeHosts(config.hosts, count);
  if (found.length > 0) return found.join(', ');
  const missing = describeMissingKeys(config);
  return missing === '' ? 'none' : `none found; set ${missing} to call real models`;
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
    return 'No model is served: set a provider key, add a host to the config file, or leave out --no-sim.\n';
  const note = isSimulated(facts.config, model) ? ' (simulated: no real model is called)' : '';
  const key = facts.config.hosted ? ' -H "authorization: Bearer $KEY"' : '';
  const body = JSON.stringify({ model: model.id, messages: [{ role: 'user', content: 'Hello' }] });
  const call = `curl -i ${facts.url}/v1/chat/completions${key} -H 'content-type: application/json' -d '${body}'`;
  const { hosted, store } = facts.config;
  const steps = hosted ? [...mintingSteps(facts.config), call] : [call];
  const where = hosted && store !== null ? `, in a shell whose TOLLGATE_STORE names ${store.name} as here` : '';
  return `Try it${note}${where}:\n\n${steps.map((step) => `  ${step}\n`).join('')}`;
}

/**
 * Each can be copied as it stands; the folder is named because another shell may have another default. The URL of a
 * database is not, for there may be a password in it; and a folder beside it would be other books.
 */
function mintingSteps({ program, dataFolder, store }: Config): string[] {
  const books = store === null ? ` --data ${shellWord(dataFolder)}` : '';
  return [
    `${program} accounts create ada${books}`,
    `${program} accounts credit ada 5${books}`,
    `KEY=$(${program} keys mint --account ada${books})`,
  ];
}

/** The operator's own choice, else the cheapest real one, else a simulated one. */
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
