import type { ConfiguredHost } from '../hosts/host.ts';
import { isLoopback } from '../hosts/schema.ts';
import type { ConfigProblem } from './problems.ts';
import type { ConfigFile } from './schema.ts';
import type { PlaceOfSetting } from './setting-sources.ts';

/** Two listeners cannot share a port, and the error of the system would not say which setting to change. */
export function consolePortProblems(draft: ConfigFile, placeOfSetting: PlaceOfSetting): ConfigProblem[] {
  const { listen, hosted } = draft;
  const { console_port: port } = listen;
  if (!draft.console || port === null || port === 0) return [];
  const others = [
    { flag: '--port', port: listen.port },
    ...(hosted && listen.operations_host === listen.host
      ? [{ flag: '--operations-port', port: listen.operations_port }]
      : []),
  ];
  return others
    .filter((other) => other.port === port)
    .map(({ flag }) => ({
      ...placeOfSetting('listen.console_port'),
      message: `is the same port as ${flag}; choose another`,
    }));
}

/** A host at our own address would call this gateway again, without end. */
export function ownAddressProblems(
  draft: ConfigFile,
  hosts: readonly ConfiguredHost[],
  source: string,
): ConfigProblem[] {
  const isOurs = ({ row }: ConfiguredHost): boolean => {
    const url = URL.parse(row.baseUrl);
    return (
      url !== null && isLoopback(url.hostname) && draft.listen.port !== 0 && Number(url.port) === draft.listen.port
    );
  };
  return hosts.filter(isOurs).map(({ row }) => {
    const at = draft.hosts.findIndex(({ name }) => name === row.name);
    const said = at === -1 || draft.hosts[at]?.base_url === undefined ? '' : `hosts[${at}].base_url`;
    const message = `the address of "${row.name}" is where this gateway listens; name another port`;
    return { source: said === '' ? (row.address?.variables[0] ?? source) : source, path: said, message };
  });
}
