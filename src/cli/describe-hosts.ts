import type { Config } from '../config.ts';

/** How many models of the catalog a host serves; null where nobody counted. */
export type CountModels = (host: string) => number | null;

type Host = Config['hosts'][number];

/** The hosts that can be called, each with where its key came from or where it was found; never a key itself. */
export function describeHosts(hosts: readonly Host[], count: CountModels = () => null): string[] {
  return hosts
    .filter(({ row }) => !row.simulated)
    .map((host) => `${host.row.name} (${traits(host, count).join('; ')})`);
}

function traits({ row, keySource, local, found }: Host, count: CountModels): string[] {
  const served = count(row.name);
  return [
    ...(keySource === null ? [] : [keySource]),
    ...(keySource === null || local ? [row.baseUrl] : []),
    ...(served === null && found !== undefined ? [models(found.length)] : []),
    ...(served === 0 ? [row.local === undefined || found !== undefined ? NOTHING_SERVED : NO_ANSWER] : []),
    ...(served !== null && served > 0 ? [models(served)] : []),
  ];
}

const NOTHING_SERVED = 'serves no model yet: list its models under "hosts"';
const NO_ANSWER = 'did not say what it serves; is it running?';

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
