import { readdirSync } from 'node:fs';
import type { Catalog } from '../catalog/catalog.ts';
import type { Composition, FolderHeld, OpenServices, Terminal } from '../cli/composition.ts';
import type { Config } from '../config/config.ts';
import { hangupFacts } from '../gateway/hangup-facts.ts';
import { openAll } from '../kit/cleanup.ts';
import type { Clock } from '../kit/clock.ts';
import type { Account } from '../ledger/ledger.ts';
import { commandLine } from '../operator/actor.ts';
import { refusingFaults } from '../store/sqlite/faults.ts';
import { FolderInUse, openBooks } from './books.ts';
import { callLimits } from './call-limits.ts';
import { withLocalHosts } from './local-hosts.ts';
import { catalogFor } from './prices.ts';
import type { ServeTerms } from './serve.ts';
import type { EarlyHangups } from './signals.ts';

/** What a start leaves in a data folder, also if it is interrupted. A folder without all of them may be anybody's. */
const LEDGER_FILES = ['tollgate.sqlite', 'tollgate.mark', 'replacement.sqlite', 'replacement.json', 'holder.json'];

interface ComposeTerms {
  readonly program: string;
  readonly terminal: Terminal;
  readonly cwd: string;
  readonly clock: Clock;
  /** Whether a server stops when its parent process ends. */
  readonly followsParent?: boolean;
  /** Null if nobody listened for SIGHUP before this code was loaded. */
  readonly hangups?: EarlyHangups | null;
}

/** Everything that commands need, built from the real store, network and clock. */
export function compose({ program, terminal, cwd, clock, ...terms }: ComposeTerms): Composition {
  const { followsParent = false, hangups = null } = terms;
  return {
    // The server's packages are loaded on demand, because other commands start faster without them.
    serve: async (config, options) => {
      // The simulator is a process of its own, which starts while the server's code is loaded.
      const simulator = await startingSimulator(config);
      const { serve } = await import('./serve.ts');
      return serve({ ...options, config, program, clock, terminal, followsParent, hangups, simulator });
    },
    openServices: (config) => openServices(config, clock, terminal),
    hasLedger,
    findHolder: async (folder) => (await import('../store/sqlite/lock.ts')).findHolder(folder),
    copyStore: (terms) =>
      refusingFaults(terms.from, async () => (await import('./copy-store.ts')).copyStore(terms, clock)),
    restoreStore: (terms) =>
      refusingFaults(terms.folder, async () => (await import('./restore-store.ts')).restoreStore(terms, clock)),
    acceptLoss: (terms) =>
      refusingFaults(terms.folder, async () => (await import('./accept-loss.ts')).acceptStoreLoss(terms, clock)),
    compactStore: (terms) =>
      refusingFaults(terms.folder, async () => (await import('./compact-store.ts')).compactStore(terms, clock)),
    examineDatabase: async (place) => (await import('./examine-store.ts')).examinePostgres(place, clock),
    migrateDatabase: async (place) => (await import('./examine-store.ts')).migrateDatabase(place),
    lookForHosts: (config) => withLocalHosts(config, clock, null),
    examineKeys: async (hosts) => (await import('./examine-keys.ts')).examineKeys(hosts, clock),
    download: async (url) => (await import('./download.ts')).download(url),
    sendThroughProxy: async ({ url, name }, request) =>
      (await import('../http1/request-through-proxy.ts')).requestThroughProxy({ url: url.reveal(), name }, request),
    catalogFor: (config) => catalogFor(config, config.hosts),
    program,
    terminal,
    cwd,
    clock,
  };
}

/** Also true if that cannot be found out: opening the folder then says why. */
function hasLedger(folder: string): boolean {
  try {
    return readdirSync(folder).some((name) => LEDGER_FILES.includes(name));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT';
  }
}

/** Null if no simulated model is offered. If it fails, the caller that awaits it gets the error. */
async function startingSimulator({ hosts }: Config): Promise<ServeTerms['simulator']> {
  if (!hosts.some(({ row }) => row.simulated)) return null;
  const { startSimulator } = await import('./simulator.ts');
  const starting = startSimulator();
  starting.catch(() => {});
  return { starting };
}

/** For a command without a running server: locks the data folder itself while it works. */
async function openServices(config: Config, ownClock: Clock, terminal: Terminal): Promise<OpenServices | FolderHeld> {
  try {
    return await openAll(async (cleanup) => {
      const books = await openBooks({
        config,
        clock: ownClock,
        socketPath: null,
        mayHaveMoved: true,
        threads: false,
        onNotice: (notice) => terminal.writeErr(`${notice}\n`),
        onFatal: (error) => {
          throw error;
        },
      });
      cleanup.add(books.close);
      const { clock } = books;
      const { hosts } = await withLocalHosts(config, clock, null);
      let catalog: Catalog | null = null;
      const services = {
        ...books,
        // Built on demand: most commands need no catalog, and without provider keys it may be impossible to build.
        catalog: () => (catalog ??= catalogFor(config, hosts)),
        hangups: (account: Account) => hangupFacts({ limits: callLimits(config.limits), clock }, account),
        directory: null,
        archiveFolder: config.retention.archiveFolder,
        actor: commandLine(),
        publicUrl: config.publicUrl,
        masterKeys: async (mayMake: boolean) =>
          (await import('./lost-key.ts')).commandKeyring(config.masterKey, books.store, mayMake),
        webhooks: async () =>
          (await import('./command-webhooks.ts')).commandWebhooks({ config, clock, books, cleanup }),
        jobs: async () => (await import('./command-jobs.ts')).commandJobs(books, clock),
        server: null,
      };
      return { services, close: () => cleanup.run() };
    });
  } catch (error) {
    if (error instanceof FolderInUse) return { heldBy: error.holder };
    throw error;
  }
}
