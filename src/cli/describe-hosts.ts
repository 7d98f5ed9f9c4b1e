import type { Catalog } from '../catalog/catalog.ts';
import type { Config } from '../config/config.ts';

/** How many models of the catalog a host serves; null if unknown. */
type CountModels = (host: string) => number | null;

type Host = Config['hosts'][number];

/** The hosts that can be called, each with the source of its key or its address; never a key. */
export function describeHosts(hosts: readonly Host[], count: CountModels = () => null): string[] {
  return hosts
    .filter(({ row }) => !row.simulated)
    .map((host) => `${host.row.name} (${traits(host, count).join('; ')})`);
}

function traits(host: Host, count: CountModels): string[] {
  const { row, keySource, local, found, proxy } = host;
  const served = count(row.name);
  return [
    ...(keySource === null ? [] : [keySource]),
    ...(keySource === null || local ? [row.baseUrl] : []),
    ...(proxy === undefined ? [] : [`through the proxy ${proxy.name} of ${proxy.source}`]),
    ...(served === null && found !== undefined ? [models(found.length)] : []),
    ...(served === 0 ? [whyNothing(host)] : []),
    ...(served !== null && served > 0 ? [models(served)] : []),
  ];
}

function whyNothing({ row, models: listed, found }: Host): string {
  if (listed.length > 0) return 'serves no model: the listed ones have no price';
  const wasAsked = row.local !== undefined && found === undefined;
  return wasAsked ? 'did not list its models; is it running?' : 'serves no model: list its models under "hosts"';
}

/** One line for models that are listed but not served, if there are any. */
export function describeUnpriced({ unpriced }: Pick<Catalog, 'unpriced'>): [string, string][] {
  return unpriced.length === 0 ? [] : [['not served', `${unpriced.join(', ')}: set a price for each under "prices"`]];
}

function models(count: number): string {
  return count === 1 ? '1 model' : `${count} models`;
}

const NAMED_VARIABLES = 2;

/** The variables that would enable real models: the most common ones, then where to find the others. */
export function describeMissingKeys({ hostsWithoutKey }: Config): string {
  const variables = hostsWithoutKey.flatMap(({ keyVariables: [first] }) => first ?? []);
  if (variables.length <= NAMED_VARIABLES) return variables.join(' or ');
  return `${variables.slice(0, NAMED_VARIABLES).join(', ')} or another variable listed in docs/providers.md`;
}
