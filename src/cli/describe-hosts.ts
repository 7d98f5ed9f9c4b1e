import type { Catalog } from '../catalog/catalog.ts';
import type { Config } from '../config/config.ts';

/** How many models of the catalog a host serves; null where nobody counted. */
export type CountModels = (host: string) => number | null;

type Host = Config['hosts'][number];

/** The hosts that can be called, each with where its key came from or where it was found; never a key itself. */
export function describeHosts(hosts: readonly Host[], count: CountModels = () => null): string[] {
  return hosts
    .filter(({ row }) => !row.simulated)
    .map((host) => `${host.row.name} (${traits(host, count).join('; ')})`);
}

function traits(host: Host, count: CountModels): string[] {
  const { row, keySource, local, found } = host;
  const served = count(row.name);
  return [
    ...(keySource === null ? [] : [keySource]),
    ...(keySource === null || local ? [row.baseUrl] : []),
    ...(served === null && found !== undefined ? [models(found.length)] : []),
    ...(served === 0 ? [whyNothing(host)] : []),
    ...(served !== null && served > 0 ? [models(served)] : []),
  ];
}

function whyNothing({ row, models: listed, found }: Host): string {
  if (listed.length > 0) return 'serves no model yet: those listed have no price';
  const wasAsked = row.local !== undefined && found === undefined;
  return wasAsked ? 'did not say what it serves; is it running?' : 'serves no model yet: list its models under "hosts"';
}

/** A line for models that were listed and are not served, which nothing else would tell; none where there are none. */
export function describeUnpriced({ unpriced }: Pick<Catalog, 'unpriced'>): [string, string][] {
  return unpriced.length === 0 ? [] : [['not served', `${unpriced.join(', ')}: give each a price under "prices"`]];
}

function models(count: number): string {
  return count === 1 ? '1 model' : `${count} models`;
}

const NAMED_VARIABLES = 2;

/** What would bring real models: the commonest variables, and where the others are told. */
export function describeMissingKeys({ hostsWithoutKey }: Config): string {
  const variables = hostsWithoutKey.flatMap(({ keyVariables: [first] }) => first ?? []);
  if (variables.length <= NAMED_VARIABLES) return variables.join(' or ');
  return `${variables.slice(0, NAMED_VARIABLES).join(', ')} or another of docs/providers.md`;
}
