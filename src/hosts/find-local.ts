import { connect } from 'node:net';
import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import type { ConfiguredHost } from './host.ts';

interface LocalHosts {
  /** All hosts that can be called: the configured ones, with the models they listed, and those found. */
  readonly hosts: readonly ConfiguredHost[];
  /** Names of configured local hosts that did not list their models. */
  readonly silent: readonly string[];
}

/**
 * Asks local servers for their models, all at once and with a short timeout. A guessed server counts only if it answers;
 * a configured one stays either way.
 */
export async function findLocalHosts(
  configured: readonly ConfiguredHost[],
  guessed: readonly ConfiguredHost[],
  clock: Clock,
): Promise<LocalHosts> {
  const named = configured.filter(saysItself);
  const listening = await Promise.all(guessed.map((host) => isListening(host, clock)));
  const asked = [...named, ...guessed.filter((_, at) => listening[at])];
  if (asked.length === 0) return { hosts: configured, silent: [] };
  // Loaded on demand: most starts ask nobody, and are faster without an HTTP client.
  const { listModels } = await import('./list-models.ts');
  const answers = await Promise.all(asked.map((host) => listModels(host, clock)));
  const foundAt = new Map(asked.map((host, at) => [host.row.name, answers[at] ?? null]));
  const withFound = (host: ConfiguredHost): ConfiguredHost => {
    const found = foundAt.get(host.row.name) ?? null;
    return found === null ? host : { ...host, found };
  };
  return {
    hosts: [...configured.map(withFound), ...guessed.map(withFound).filter(({ found }) => found !== undefined)],
    silent: named.map(({ row }) => row.name).filter((name) => foundAt.get(name) === null),
  };
}

/** If the operator listed models, the host is not asked. */
function saysItself({ row, models }: ConfiguredHost): boolean {
  return row.local !== undefined && models.length === 0;
}

/** Whether something accepts connections there. Through a proxy, only a request can tell. */
function isListening({ row, proxy }: ConfiguredHost, clock: Clock): Promise<boolean> {
  if (proxy !== undefined) return Promise.resolve(true);
  const { hostname, port } = new URL(row.baseUrl);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    const timer = clock.after(LIMITS.localHostMs, () => end(false));
    const end = (listens: boolean): void => {
      timer.cancel();
      socket.destroy();
      resolve(listens);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}
