import type { Server } from 'node:http';
import { ensureLocalAccount } from '../accounts/accounts.ts';
import { authenticate, type Gate } from '../accounts/authenticate.ts';
import { KeyDirectory } from '../accounts/key-directory.ts';
import type { AlertWatch } from '../alerts/watch.ts';
import type { Config } from '../config/config.ts';
import type { Gateway, PricedCatalog } from '../gateway/gateway.ts';
import { hangupFacts } from '../gateway/hangup-facts.ts';
import type { ConfiguredHost } from '../hosts/host.ts';
import { HostsHealth } from '../hosts/hosts-health.ts';
import type { BodyMemory } from '../http/body-memory.ts';
import type { AuditTerms } from '../http/caller-audit.ts';
import { openControlSocket, type RunVerb } from '../http/control-socket.ts';
import { healthAnswers, metricsAnswer } from '../http/health.ts';
import { buildOperations, type OperationsAnswers } from '../http/operations.ts';
import { buildServer } from '../http/server.ts';
import { clientAddress, trustedProxies } from '../http1/client-address.ts';
import { ConnectionLimit } from '../http1/connection-limit.ts';
import type { HttpServer } from '../http1/server.ts';
import type { Jobs } from '../jobs/service.ts';
import { type Cleanup, openAll } from '../kit/cleanup.ts';
import { errorFields } from '../kit/log.ts';
import { LIMITS } from '../limits.ts';
import { commandLine } from '../operator/actor.ts';
import type { OperatorServices } from '../operator/operator.ts';
import type { ReceiptSigner } from '../signing/receipt-signer.ts';
import { refusingFaults } from '../store/sqlite/faults.ts';
import { StoreVanished } from '../store/store.ts';
import { keepBooks } from './bookkeeping.ts';
import { type Books, controlSocketPath, openBooks } from './books.ts';
import type { InForce } from './call-parts.ts';
import { ENDPOINTS } from './call-routes.ts';
import { buildCore, type Core } from './core.ts';
import { closeListener, closeServer, drain, giveNotice } from './drain.ts';
import { forgetCallers } from './forget-callers.ts';
import { tellHostEvent } from './host-events.ts';
import { HostSenders } from './host-senders.ts';
import { HTTP_SERVERS } from './http-servers.ts';
import { logInstanceEvent } from './instance-events.ts';
import { type OpenJobs, openJobs } from './jobs.ts';
import { logTrouble } from './log-trouble.ts';
import { refuseLostKey } from './lost-key.ts';
import { openManagement } from './manage.ts';
import { catalogFor, rememberPrices } from './prices.ts';
import { addProcessCaches } from './process-caches.ts';
import { directoryOf, Reloads } from './reload.ts';
import { inSameFolder } from './restart-settings.ts';
import { routeTable } from './routes.ts';
import { shareRequests } from './share-requests.ts';
import { mismatchAlarm, openSigner } from './signing.ts';
import type { StartTerms } from './start-terms.ts';
import { openTracing } from './trace-exporter.ts';
import { watchClock } from './watch-clock.ts';
import { Workers } from './workers/workers.ts';

export type { StartTerms } from './start-terms.ts';

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
  /** Takes the prices, models and hosts of a changed config; running calls keep theirs. */
  reload(config: Config, hosts: readonly ConfiguredHost[]): Promise<void>;
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
  const inForce: InForce = {
    config,
    prices: await rememberPrices(books.store, catalogFor(config, terms.hosts)),
    hosts: directoryOf(terms.hosts, egress, health),
  };
  const tracing = await openTracing(terms);
  cleanup.add(async () => tracing?.close());
  const core = buildCore({ terms, books, inForce, egress, health, tracing, ...workers.partsOfCore });
  const { keyring } = core.entrusted;
  keyring.onKeys = (keys) => workers.tell({ kind: 'use_keys', keys });
  cleanup.add(() => core.close());
  cleanup.add(() => core.webhooks.deliverer.stop());
  cleanup.add(() => core.alerts.watch.stop());
  const directory = new KeyDirectory(books.store, clock);
  cleanup.add(() => directory.stop());
  await directory.start();
  core.caches.addAll(() => directory.sizes());
  const localAccountId = config.hosted ? null : (await ensureLocalAccount({ ...books, clock })).id;
  const gate: AuthGate = { directory, localAccountId, page: null };
  books.onReplaced(() => forgetCallers(terms, books, gate));
  cleanup.add(() => workers.end());
  const masterKeys = keyring.sealer.keys;
  await workers.start(terms, { books, health, alerts: core.alerts.watch, localAccountId, masterKeys });
  const jobs = jobsOf(terms, books, core, callsPerHost);
  // After the listeners have drained: what a job writes at its end comes before the store is closed.
  cleanup.add(() => jobs.idle());
  const signer = await openSigner(terms, books, core);
  addProcessCaches({ core, signer, jobs });
  const { close, ...urls } = await openListeners(terms, books, core, signer, gate, jobs, socketPath, workers);
  cleanup.add(close);
  const ports = Object.values(urls).flatMap(portOf);
  for (const port of ports) core.entrusted.ownPorts.add(port);
  workers.tell({ kind: 'own_ports', ports });
  books.announce(urls.url, terms.config.hosted);
  startBackground(terms, books, core, signer, jobs, workers, cleanup);
  const reloads = new Reloads({ store: books.store, keyring, inForce, egress, health }, workers);
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
    reload: (changed, hosts) => reloads.reload({ config: inSameFolder(config, changed), hosts }),
    stop: () => cleanup.run(),
  };
}

/** What runs beside the calls, once in a process. */
function startBackground(
  terms: StartTerms,
  books: Books,
  core: Core,
  signer: ReceiptSigner,
  jobs: OpenJobs,
  workers: Workers,
  cleanup: Cleanup,
): void {
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
    ...{ config: settings, log, books, gateway: core.gateway, endpoints: ENDPOINTS, webhooks: core.webhooks },
    findKey: (id) => books.store.findKey(id),
    isBusy: (running) => needWholeProcess(core, running),
    onEnded: (ended) => core.metrics.jobs.ended(ended),
  });
}

/** Whether live calls need the whole process, so that deferred jobs wait. `jobs` is how many of the running calls are jobs. */
function needWholeProcess({ guards, gateway }: Core, jobs: number): boolean {
  if (guards.isOverloaded() || guards.waitingForHosts() > 0) return true;
  return guards.longestLagMs() > LIMITS.jobLagMs && gateway.shutdown.callsInProcess > jobs;
}

function portOf(url: string | null): number[] {
  return url === null ? [] : [Number(new URL(url).port)];
}

/** The listeners: the callers' port, the control socket, and the ports of health and metrics and of the management API. */
interface Listeners {
  readonly url: string;
  readonly operationsUrl: string | null;
  readonly consoleUrl: string | null;
  close(): Promise<void>;
}

async function openListeners(
  terms: StartTerms,
  books: Books,
  core: Core,
  signer: ReceiptSigner,
  gate: AuthGate,
  { jobs, endWaits }: OpenJobs,
  socketPath: string | null,
  workers: Workers,
): Promise<Listeners> {
  const { config, log, clock } = terms;
  const { gateway, metrics } = core;
  const stopping = { isAnnounced: false, hasBegun: false };
  const health = healthAnswers({ health: () => books.health(), draining: () => stopping.isAnnounced });
  const all = new Map([...health, metricsAnswer(metrics)]);
  let listening: Addresses | null = null;
  const management = openManagement({
    config,
    ...{ store: books.store, clock, ids: books.ids, log },
    servicesFor: (actor) => ({ ...operatorServices(terms, books, core, gate, jobs, listening ?? NOWHERE), actor }),
    url: () => listening?.manageUrl ?? null,
    ...{ connectionLimit: core.connectionLimit, caches: core.caches },
    countSignIn: (outcome) => metrics.signIn(outcome),
    draining: () => stopping.hasBegun,
    findKey: (id) => gate.directory.findById(id),
  });
  gate.page = management.page;
  const isTrusted = trustedProxies(config.trustedProxies);
  const auditTerms: AuditTerms = { clock, ids: books.ids, clientAddress: (...by) => clientAddress(...by, isTrusted) };
  const server = buildServer({
    createHttpServer: await workers.serverOf(HTTP_SERVERS[config.transport]),
    gateway,
    routes: routeTable(gateway, books.ledger, signer, { ...core.webhooks, ...auditTerms }, jobs),
    operations: config.hosted ? new Map(health) : all,
    authenticate: (request) => authenticate(request, gate),
    turnAway: core.guards.turnAway,
    guard: { local: !config.hosted, allowedHosts: config.allowedHosts, allowedOrigins: config.origins },
    manage: management.onCallersPort,
    timeouts: config.limits,
    connectionLimit: core.connectionLimit,
    bodyMemory: core.bodyMemory,
    log,
    draining: () => stopping.hasBegun,
  });
  const operations = config.hosted ? operationsServer(config, all) : null;
  let control: Server | null = null;
  const close = async (): Promise<void> => {
    stopping.isAnnounced = true;
    const { shutdownMs, shutdownNoticeMs } = config.limits;
    if (listening !== null && shutdownNoticeMs > 0) await giveNotice(clock, shutdownNoticeMs);
    stopping.hasBegun = true;
    endWaits();
    management.endFeeds();
    await drain(management.server === null ? [server] : [server, management.server], gateway, shutdownMs, log);
    if (control !== null) await closeServer(control);
    if (operations !== null) await closeListener(operations);
  };
  return openAll(async (cleanup) => {
    // All are closed together, in an order of their own: closing one that does not listen yet does nothing.
    cleanup.add(close);
    const { host, port, operationsHost, operationsPort, consolePort } = config.listen;
    const url = await server.listen({ host, port });
    const operationsUrl = (await operations?.listen({ host: operationsHost, port: operationsPort })) ?? null;
    const consoleUrl = (await management.server?.listen({ host, port: consolePort ?? 0 })) ?? null;
    listening = { url, manageUrl: consoleUrl ?? url, startedMs: terms.clock.nowMs() };
    const operator = { ...operatorServices(terms, books, core, gate, jobs, listening), actor: commandLine() };
    if (socketPath !== null) control = await openControlSocket(socketPath, verbsFor(operator));
    return { url, operationsUrl, consoleUrl, close };
  });
}

/** Loaded on demand, as the management API is: most requests are calls. */
function verbsFor(operator: OperatorServices): RunVerb {
  return async (verb, input) => {
    const { answerOperator } = await import('../operator/operator.ts');
    return answerOperator(operator, verb, input);
  };
}

function operationsServer(config: Config, answers: OperationsAnswers): HttpServer {
  return buildOperations({
    createHttpServer: HTTP_SERVERS[config.transport],
    allowedHosts: config.allowedHosts,
    timeouts: config.limits,
    connections: new ConnectionLimit(LIMITS.operationsConnectionsMax),
    answers,
  });
}

/** Changed when the store is replaced, and once the pages of the management API are known. */
interface AuthGate extends Gate {
  readonly directory: KeyDirectory;
  localAccountId: bigint | null;
  page: Gate['page'];
}

/** Where callers reach this process, where people reach the management API, and when it began to listen. */
interface Addresses {
  readonly url: string;
  readonly manageUrl: string;
  readonly startedMs: number;
}

const NOWHERE: Addresses = { url: '', manageUrl: '', startedMs: 0 };

/** The services that operations use, whoever makes the request. */
function operatorServices(
  terms: StartTerms,
  books: Books,
  core: Core,
  gate: AuthGate,
  jobs: Jobs,
  { url, startedMs }: Addresses,
): Omit<OperatorServices, 'actor'> {
  const { clock, config } = terms;
  const { store, ledger, ids, backUp } = books;
  return {
    store,
    ledger,
    clock,
    ids,
    backUp,
    archiveFolder: config.retention.archiveFolder,
    hangups: (account) => hangupFacts(core.gateway, account),
    moved: null,
    catalog: () => core.gateway.prices().catalog,
    directory: gate.directory,
    masterKeys: () => core.entrusted.keyring,
    webhooks: async () => core.webhooks.targets,
    jobs: async () => jobs,
    live: core.live,
    onMismatch: mismatchAlarm(terms.log, core.metrics),
    server: { url, pid: process.pid, hosted: config.hosted, startedMs },
    publicUrl: config.publicUrl,
  };
}
