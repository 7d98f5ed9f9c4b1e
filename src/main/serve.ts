import { banner } from '../cli/banner.ts';
import type { Composition } from '../cli/composition.ts';
import { EXIT } from '../cli/exit-codes.ts';
import { describeOpenFolder } from '../cli/folder-mode.ts';
import type { Config } from '../config/config.ts';
import { workersFor } from '../config/workers.ts';
import type { ConfiguredHost } from '../hosts/host.ts';
import type { Clock } from '../kit/clock.ts';
import { giveBackWhenIdle } from '../kit/idle-memory.ts';
import { createLog, errorFields, type RootLog } from '../kit/log.ts';
import { canSharePort } from '../kit/shared-port.ts';
import { auditRow } from '../operator/actor.ts';
import type { Books } from './books.ts';
import { ConfigReloads } from './config-reloads.ts';
import { consoleLink } from './console-link.ts';
import { tuneHeap } from './heap.ts';
import { withLocalHosts } from './local-hosts.ts';
import { warnAfterReload } from './reload-warnings.ts';
import { changesForRestart } from './restart-settings.ts';
import { type EarlyHangups, stopSignal } from './signals.ts';
import type { Simulator } from './simulator.ts';
import { type Running, startGateway } from './start.ts';
import { describeStartFailure } from './start-failure.ts';
import { WorkerFailed } from './workers/worker-thread.ts';

export interface ServeTerms {
  readonly config: Config;
  readonly program: string;
  readonly json: boolean;
  readonly clock: Clock;
  readonly terminal: Composition['terminal'];
  readonly followsParent: boolean;
  readonly hangups: EarlyHangups | null;
  /** Being started; null if no simulated model is offered. */
  readonly simulator: { readonly starting: Promise<Simulator> } | null;
  /** Reads the config file and the environment again. */
  reloadConfig(): Config;
}

const STDOUT = 1;

/** Serves until a signal stops it; resolves to the exit code. */
export async function serve(terms: ServeTerms): Promise<number> {
  const { clock, terminal } = terms;
  const open = describeOpenFolder(terms.config.dataFolder);
  if (open !== null) {
    terminal.writeErr(`${open.problem}, and with it to the ledger. Run: ${open.remedy}\n`);
    (await terms.simulator?.starting)?.stop();
    return EXIT.usage;
  }
  const log = createLog({ level: terms.config.logLevel, destination: STDOUT });
  let running: Running | null = null;
  let reloads: ConfigReloads | null = null;
  // A signal may come while it starts, after the config was read.
  let isReloadDue = false;
  // Before anything is started: the first process of a container ignores signals that it does not handle.
  const stopped = stopSignal({
    ...terms,
    reload: () => {
      if (reloads === null) isReloadDue = true;
      else void reloads.reload();
    },
  });
  void stopped.then((exitCode) => {
    if (running === null) process.exit(exitCode);
  });
  const [simulator, config] = await Promise.all([
    terms.simulator?.starting ?? null,
    withLocalHosts(terms.config, clock, log),
  ]);
  let fatal: Error | null = null;
  // Until it runs, the start itself fails and says why.
  const onFatal = (error: Error): void => {
    fatal ??= error;
    if (running !== null) endAtOnce(log, error);
  };
  try {
    const workers = await workersFor(config.workers, canSharePort);
    running = await startGateway({
      config,
      hosts: withAddresses(config.hosts, simulator),
      clock,
      log,
      onFatal,
      workers,
    });
    if (fatal !== null) endAtOnce(log, fatal);
    reloads = reloadsOf(terms, running, simulator, log);
    if (isReloadDue) void reloads.reload();
    tuneHeap();
    giveBackWhenIdle();
  } catch (error) {
    simulator?.stop();
    const failure = describeStartFailure(error, config);
    if (failure === null) throw error;
    terminal.writeErr(`${failure.message}\n`);
    return failure.exitCode;
  }
  announce(terms, config, running, log);
  await stopped;
  log.info({}, 'Stopping; running calls may finish.');
  await running.stop();
  simulator?.stop();
  await log.flush();
  // A library may still wait for something that nobody needs any more, like its next attempt to send spans.
  process.exit(EXIT.ok);
}

/** Tells people on the terminal, programs on stdout, and the log that the gateway runs. */
function announce({ terminal, ...terms }: ServeTerms, config: Config, running: Running, log: RootLog): void {
  const { catalog, url, operationsUrl, consoleUrl } = running;
  const link = consoleLink(config, url, consoleUrl);
  terminal.writeErr(banner({ ...terms, config, catalog, url, operationsUrl, consoleLink: link }));
  if (terms.json)
    terminal.writeOut(`${JSON.stringify({ url, operations_url: operationsUrl, console_url: consoleUrl })}\n`);
  if (running.voidedHolds > 0) log.warn({ holds: running.voidedHolds }, 'Holds of an earlier process released.');
}

function withAddresses(hosts: readonly ConfiguredHost[], simulator: Simulator | null): ConfiguredHost[] {
  return hosts.flatMap((host) => {
    if (!host.row.simulated) return [host];
    // A reload may offer the simulated host although its process was not started.
    return simulator === null ? [] : [{ ...host, row: { ...host.row, baseUrl: `${simulator.url}/v1` } }];
  });
}

function reloadsOf(terms: ServeTerms, running: Running, simulator: Simulator | null, log: RootLog): ConfigReloads {
  return new ConfigReloads({
    file: terms.config.file,
    hosted: terms.config.hosted,
    read: async () => {
      const config = await withLocalHosts(terms.reloadConfig(), terms.clock, log);
      return { config, hosts: withAddresses(config.hosts, simulator) };
    },
    use: ({ config, hosts }) => running.reload(config, hosts),
    changesForRestart: ({ config }) => changesForRestart(terms.config, config),
    describe: () => ({ price_version: running.catalog.priceVersion, models: running.catalog.list().length }),
    audit: (before, after) => auditReload(running.books, { before, after }),
    warn: () => warnAfterReload(running, log),
    log,
  });
}

/** The audit names the config as the actor, because a signal does not say who sent it. */
async function auditReload({ store, ids, clock }: Books, change: { before: object; after: object }): Promise<void> {
  const actor = { kind: 'configuration', id: null, name: 'reload', address: null } as const;
  const row = auditRow({ actor, clock, ids }, { action: 'config.reload', subject: 'config', ...change });
  await store.directory.writeAudit(row);
}

/** Nothing was confirmed that is not durable, so the next start continues from the store. */
function endAtOnce(log: RootLog, error: Error): never {
  const what = error instanceof WorkerFailed ? 'A worker failed; stopping.' : 'Writing to the store failed; stopping.';
  log.error(errorFields(error), what);
  log.flushSync();
  process.exit(EXIT.unreachable);
}
