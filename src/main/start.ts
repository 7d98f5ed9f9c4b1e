import { ensureLocalAccount } from '../accounts/accounts.ts';
import type { AlertWatch } from '../alerts/watch.ts';
import type { Config } from '../config/config.ts';
import type { Gateway, PricedCatalog } from '../gateway/gateway.ts';
import type { BodyMemory } from '../gateway/guards/body-memory.ts';
import type { ConfiguredHost } from '../hosts/host.ts';
import { HostsHealth } from '../hosts/hosts-health.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { type Cleanup, openAll } from '../kit/cleanup.ts';
import { errorFields } from '../kit/log.ts';
import { LIMITS } from '../limits.ts';
import { showSecretSeals } from '../operator/seal.ts';
import { refusingFaults } from '../store/sqlite/faults.ts';
import { StoreVanished } from '../store/store.ts';
import { keepBooks } from './bookkeeping.ts';
import { type Books, controlSocketPath, openBooks } from './books.ts';
import { ENDPOINTS } from './call-routes.ts';
import { buildCore, type Core } from './core.ts';
import { openGate } from './gate.ts';
import { tellHostEvent } from './host-events.ts';
import { HostSenders } from './host-senders.ts';
import { logInstanceEvent } from './instance-events.ts';
import { type OpenJobs, openJobs } from './jobs.ts';
import { openListeners } from './listeners.ts';
import { logTrouble } from './log-trouble.ts';
import { refuseLostKey } from './lost-key.ts';
import { addProcessCaches } from './process-caches.ts';
import { reload } from './reload.ts';
import { inSameFolder } from './restart-settings.ts';
import type { ServedParts } from './served-parts.ts';
import { openSettingsInForce } from './settings-in-force.ts';
import { shareRequests } from './share-requests.ts';
import { openSigner } from './signing.ts';
import type { StartTerms } from './start-terms.ts';
import { openTracing } from './trace-exporter.ts';
import { watchClock } from './watch-clock.ts';
import { Workers } from './workers/workers.ts';

export interface Running {
  readonly url: string;
  readonly operationsUrl: string | null;
  /** Null if the management API has no port of its own. */
  readonly consoleUrl: string | null;
  readonly catalog: PricedCatalog['catalog'];
  readonly books: Books;
  readonly gateway: Gateway;
  readonly jobs: Jobs;
  readonly egress: HostSenders;
  readonly bodyMemory: BodyMemory;
  readonly alerts: AlertWatch;
  readonly voidedHolds: number;
  /** Takes the prices, models and hosts of a changed config; running calls keep theirs. One reload at a time. */
  reload(config: Config, hosts: readonly ConfiguredHost[]): Promise<void>;
  /** How many stored secrets the master keys in use do not decrypt; requests and results of jobs are not among them. */
  unreadableSecrets(): Promise<number>;
  /** Stops admitting calls, lets running ones finish within the limit, and closes the store. */
  stop(): Promise<void>;
}

export async function startGateway(terms: StartTerms): Promise<Running> {
  const { config } = terms;
  // Commands open a shared store themselves, so they need no socket.
  const socketPath = config.store === null ? controlSocketPath(config.dataFolder) : null;
  // After the ledger is open, its lock and the listeners still need space and descriptors.
  return refusingFaults(config.dataFolder, () => openGateway(terms, socketPath), 'Cannot start the gateway');
}

function openGateway(terms: StartTerms, socketPath: string | null): Promise<Running> {
  const { config, clock } = terms;
  return openAll(async (cleanup) => {
    const books = await openBooks({
      config,
      clock,
      socketPath,
      onFatal: (error) => stopOrStay(error, terms),
      onNotice: (notice) => terms.log.warn({}, notice),
      onInstanceEvent: (event) => logInstanceEvent(event, terms.log),
      onTrouble: logTrouble(terms.log),
    });
    cleanup.add(books.close);
    return serveBooks({ ...terms, clock: books.clock }, books, socketPath, cleanup);
  });
}

/** Without its files the next start would begin an empty ledger: this process stays, and refuses every call. */
function stopOrStay(error: Error, { log, onFatal }: StartTerms): void {
  if (error instanceof StoreVanished) log.error(errorFields(error), 'The data folder is gone; every call is refused.');
  else onFatal(error);
}

async function serveBooks(
  terms: StartTerms,
  books: Books,
  socketPath: string | null,
  cleanup: Cleanup,
): Promise<Running> {
  const { config, clock } = terms;
  await refuseLostKey(config.masterKey, books.store);
  const workers = new Workers(terms.workers ?? 1);
  const callsPerHost = workers.shareOf(config.limits.callsPerHost);
  const egress = new HostSenders(config.transport, callsPerHost);
  cleanup.add(() => egress.close());
  const health = new HostsHealth(
    config.health,
    clock,
    (event) => tellHostEvent(event, terms.log, core.metrics.hosts),
    (news) => workers.share(news),
  );
  const inForce = await openSettingsInForce(terms, books.store, egress, health);
  const tracing = await openTracing(terms);
  cleanup.add(async () => tracing?.close());
  const core = buildCore({ terms, books, inForce, egress, health, tracing, ...workers.partsOfCore });
  const { keyring } = core.entrusted;
  keyring.onKeys = (keys) => workers.tell({ kind: 'use_keys', keys });
  cleanup.add(() => core.close());
  cleanup.add(() => core.webhooks.deliverer.stop());
  cleanup.add(() => core.alerts.watch.stop());
  const localAccountId = config.hosted ? null : (await ensureLocalAccount({ ...books, clock })).id;
  const gate = await openGate({ ...terms, books, caches: core.caches, cleanup }, localAccountId);
  cleanup.add(() => workers.end());
  const { keys: masterKeys } = keyring.sealer;
  await workers.start(terms, { books, health, alerts: core.alerts.watch, localAccountId, masterKeys });
  const jobs = jobsOf(terms, books, core, callsPerHost);
  // After the listeners have drained: what a job writes at its end comes before the store is closed.
  cleanup.add(() => jobs.idle());
  const signer = await openSigner(terms, books, core);
  addProcessCaches({ core, signer, jobs });
  const parts: ServedParts = { terms, books, core, gate, jobs, signer, workers };
  const { close, ...urls } = await openListeners(parts, socketPath);
  cleanup.add(close);
  refuseOwnPorts(parts, Object.values(urls).flatMap(portOf));
  books.announce(urls.url, terms.config.hosted);
  startBackground(parts, cleanup);
  const reloadParts = { store: books.store, keyring, inForce, egress, health };
  return {
    ...urls,
    get catalog() {
      return inForce.prices.catalog;
    },
    books,
    gateway: core.gateway,
    jobs: jobs.jobs,
    egress,
    bodyMemory: core.bodyMemory,
    alerts: core.alerts.watch,
    voidedHolds: books.voidedHolds,
    reload: (changed, hosts) => reload(reloadParts, workers, { config: inSameFolder(config, changed), hosts }),
    unreadableSecrets: async () =>
      (await showSecretSeals({ store: books.store, masterKeys: () => keyring })).unreadable,
    stop: () => cleanup.run(),
  };
}

/** Callers may not name the gateway itself as their deployment. */
function refuseOwnPorts({ core, workers }: ServedParts, ports: readonly number[]): void {
  for (const port of ports) core.entrusted.ownPorts.add(port);
  workers.tell({ kind: 'own_ports', ports });
}

/** What runs beside the calls, once in a process. */
function startBackground({ terms, books, core, signer, jobs, workers }: ServedParts, cleanup: Cleanup): void {
  const signRoots = () => signer.roots.signClosed();
  const bookkeeping = keepBooks(terms, books, signRoots, () => raiseIds(books, workers));
  cleanup.add(() => bookkeeping.stop());
  core.webhooks.deliverer.start();
  core.alerts.watch.start();
  jobs.start();
  cleanup.add(() => jobs.stop());
  const clockWatch = watchClock(terms, books.ids);
  cleanup.add(() => clockWatch.stop());
  const { rateLimiter } = core.guards;
  if (terms.config.store === null || rateLimiter === null) return;
  const sharing = shareRequests(terms, rateLimiter, books.store);
  cleanup.add(() => sharing.stop());
}

/** If the clock was ahead while only some workers had calls, the others are below those ids. */
async function raiseIds(books: Books, workers: Workers): Promise<void> {
  const id = await books.lastCallId();
  if (id === null) return;
  books.ids.continueAbove(id);
  workers.tell({ kind: 'ids_above', id });
}

function jobsOf({ config, log }: StartTerms, books: Books, core: Core, callsPerHost: number): OpenJobs {
  const settings = { jobs: config.jobs, limits: { ...config.limits, callsPerHost } };
  return openJobs({
    config: settings,
    log,
    books,
    gateway: core.gateway,
    endpoints: ENDPOINTS,
    webhooks: core.webhooks,
    findKey: (id) => books.store.findKey(id),
    isBusy: (running) => needWholeProcess(core, running),
    onEnded: (ended) => core.metrics.jobs.ended(ended),
  });
}

/** Whether live calls need the whole process, so that deferred jobs wait. `jobs` is how many of the running calls are jobs. */
function needWholeProcess({ guards, gateway }: Core, jobs: number): boolean {
  if (guards.isOverloaded() || guards.waitingForHosts() > 0) return true;
  return guards.longestLagMs() > LIMITS.jobLagMs && gateway.runningCalls.countInProcess > jobs;
}

function portOf(url: string | null): number[] {
  return url === null ? [] : [Number(new URL(url).port)];
}
