import type { FolderHeld as Held, OpenServices } from '../cli/composition.ts';
import { runCli } from '../cli/run.ts';
import { type Config, processEnvironment } from '../config/config.ts';
import { MasterKeyring } from '../custody/keyring.ts';
import { systemClock } from '../kit/clock.ts';
import { FolderHeld, openBooks } from './books.ts';
import { withLocalHosts } from './local-hosts.ts';
import { catalogFor } from './prices.ts';

/** The composition root: builds everything and passes it on. Resolves to the exit code. */
export function main(argv: readonly string[]): Promise<number> {
  const terminal = {
    writeOut: (text: string) => void process.stdout.write(text),
    writeErr: (text: string) => void process.stderr.write(text),
    isLive: process.stderr.isTTY === true,
  };
  return runCli(argv, processEnvironment(), {
    // The server's packages are loaded on demand, because other commands start faster without them.
    serve: async (config, options) => {
      const { serve } = await import('./serve.ts');
      return serve({ ...options, config, clock: systemClock, terminal });
    },
    openServices,
    copyStore: async (terms) => (await import('./copy-store.ts')).copyStore(terms, systemClock),
    restoreStore: async (terms) => (await import('./restore-store.ts')).restoreStore(terms, systemClock),
    examineDatabase: async (place) => (await import('./examine-store.ts')).examinePostgres(place, systemClock),
    migrateDatabase: async (place) => (await import('./examine-store.ts')).migrateDatabase(place),
    lookForHosts: (config) => withLocalHosts(config, systemClock, null),
    catalogFor: (config) => catalogFor(config, config.hosts),
    terminal,
    cwd: process.cwd(),
    clock: systemClock,
  });
}

/** For a command without a running server: locks the data folder itself while it works. */
async function openServices(config: Config): Promise<OpenServices | Held> {
  try {
    const books = await openBooks({
      config,
      clock: systemClock,
      socketPath: null,
      mayHaveMoved: true,
      onFatal: (error) => {
        throw error;
      },
    });
    const { hosts } = await withLocalHosts(config, systemClock, null);
    const catalog = catalogFor(config, hosts);
    const services = {
      ...books,
      clock: systemClock,
      catalog: () => catalog,
      directory: null,
      masterKeys: () => new MasterKeyring(config.masterKey),
      server: null,
    };
    return { services, close: books.close };
  } catch (error) {
    if (error instanceof FolderHeld) return { heldBy: error.holder };
    throw error;
  }
}
