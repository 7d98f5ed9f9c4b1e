import type { Server } from 'node:http';
import { ensureLocalAccount } from '../accounts/accounts.ts';
import { authenticate, type Gate } from '../accounts/authenticate.ts';
import { KeyDirectory } from '../accounts/key-directory.ts';
import type { Config } from '../config/config.ts';
import type { ExchangeRecord } from '../gateway/exchange-record.ts';
import type { Gateway, PricedCatalog } from '../gateway/gateway.ts';
import { CallSlots } from '../gateway/guards/call-slots.ts';
import { KeptBudget } from '../gateway/guards/kept-budget.ts';
import { Shutdown } from '../gateway/guards/shutdown.ts';
import { HostDirectory } from '../hosts/directory.ts';
import type { ConfiguredHost } from '../hosts/host.ts';
import { HostsHealth } from '../hosts/hosts-health.ts';
import { logCall } from '../http/call-log.ts';
import { openControlSocket, type RunVerb } from '../http/control-socket.ts';
import { healthAnswers, metricsAnswer } from '../http/health.ts';
import { Metrics } from '../http/metrics.ts';
import { buildOperations } from '../http/operations.ts';
import { buildServer } from '../http/server.ts';
import { HostConnections } from '../http1/client/host-connections.ts';
import type { Listener } from '../http1/server/listener.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log, RootLog } from '../kit/log.ts';
import { LIMITS } from '../limits.ts';
import { TokenCounter } from '../money/count-tokens.ts';
import { answerOperator, type OperatorServices } from '../operator/operator.ts';
import { keepBooks } from './bookkeeping.ts';
import { type Books, controlSocketPath, openBooks } from './books.ts';
import { type Entrusted, type GuardedWorld, openCustody } from './custody.ts';
import { buildGuards, type Guards } from './guards.ts';
import { keepYoungObjectsYoung } from './heap.ts';
import { tellHostEvent } from './host-events.ts';
import { tellLifeEvent } from './life-events.ts';
import { catalogFor, rememberPrices } from './prices.ts';
import { routeTable } from './routes.ts';
import { shareRequests } from './share-requests.ts';

export interface StartTerms {
  readonly config: Config;
  /** The configured hosts with every address filled in. */
  readonly hosts: readonly ConfiguredHost[];
  readonly clock: Clock;
  readonly log: Log & Partial<Pick<RootLog, 'dropped'>>;
  /** What callers' URLs lead to, where that is not the world itself. */
  readonly world?: GuardedWorld;
  /** The disk failed: nothing more can be promised. */
  onFatal(error: Error): void;
}

/** A gateway that serves, until it is stopped. */
export interface Running {
  readonly url: string;
  readonly operationsUrl: string | null;
  readonly catalog: PricedCatalog['catalog'];
  readonly books: Books;
  readonly gateway: Gateway;
  readonly egress: HostConnections;
  readonly voidedHolds: number;
  /** Takes a changed config's prices and models; calls under way keep theirs. */
  reload(config: Config, hosts: readonly ConfiguredHost[]): Promise<void>;
  /** Stops admitting, lets calls end, cuts the rest short, closes the books. */
  stop(): Promise<void>;
}

export async function startGateway(terms: StartTerms): Promise<Running> {
  keepYoungObjectsYoung();
  const { config, clock } = terms;
  // Commands reach a shared store by themselves.
  const socketPath = config.store === null ? controlSocketPath(config.dataFolder) : null;
  const books = await openBooks({
    config,
    clock,
    socketPath,
    onFatal: terms.onFatal,
    onLife: (event) => tellLifeEvent(event, terms.log),
  });
  try {
    return await serveBooks(terms, books, socketPath);
  } catch (error) {
    await books.close();
    throw error;
  }
}

/** What a reload replaces: prices with their models, and the hosts that serve them. */
interface InForce {
  prices: PricedCatalog;
  hosts: HostDirectory;
}

async function serveBooks(terms: StartTerms, books: Books, socketPath: string | null): Promise<Running> {
  const { config, clock } = terms;
  const egress = new HostConnections();
  const health = new HostsHealth(config.health, clock, (event) => tellHostEvent(event, terms.log, core.metrics.hosts));
  const inForce: InForce = {
    prices: await rememberPrices(books.store, catalogFor(config, terms.hosts)),
    hosts: new HostDirectory(terms.hosts, egress, health),
  };
  const core = buildCore(terms, books, inForce, egress, health);
  const directory = new KeyDirectory(books.store, clock);
  await directory.start();
  const localAccountId = config.hosted ? null : (await ensureLocalAccount({ ...books, clock })).id;
  const doors = await openDoors(terms, books, core, { directory, localAccountId }, socketPath);
  for (const url of [doors.url, doors.operationsUrl]) if (url !== null) core.entrusted.ownPorts.add(portOf(url));
  books.announce(doors.url);
  const bookkeeping = keepBooks(terms, books.store);
  const { rateLimiter } = core.guards;
  const sharing = config.store === null || rateLimiter === null ? null : shareRequests(terms, rateLimiter, books.store);
  return {
    url: doors.url,
    operationsUrl: doors.operationsUrl,
    get catalog() {
      return inForce.prices.catalog;
    },
    books,
    gateway: core.gateway,
    egress,
    voidedHolds: books.voidedHolds,
    reload: async (changed, hosts) => {
      core.entrusted.keyring.reload(changed.masterKey);
      inForce.prices = await rememberPrices(books.store, catalogFor(changed, hosts));
      inForce.hosts = new HostDirectory(hosts, egress, health);
    },
    stop: async () => {
      bookkeeping.stop();
      sharing?.stop();
      directory.stop();
      await doors.close();
      await core.close();
      await books.close();
    },
  };
}

/** The services calls pass through, and what is measured of them. */
interface Core {
  readonly gateway: Gateway;
  readonly metrics: Metrics;
  readonly guards: Guards;
  readonly entrusted: Entrusted;
  close(): Promise<void>;
}

function buildCore(
  { config, clock, log, world }: StartTerms,
  books: Books,
  inForce: InForce,
  egress: HostConnections,
  health: HostsHealth,
): Core {
  const { ids, ledger } = books;
  const entrusted = openCustody({ config, clock, books, world });
  const countTokens = new TokenCounter(clock);
  const shutdown = new Shutdown();
  shutdown.onDue(() => ledger.hurry());
  const metrics = new Metrics({
    callsUnderWay: () => shutdown.callsUnderWay,
    ledgerDepth: () => ledger.depth,
    hostConnections: () => egress.openConnections,
    eventLoopLagMs: () => guards.eventLoopLagMs(),
    hosts: () => health.report(),
    logLinesDropped: () => log.dropped ?? 0,
  });
  const guards = buildGuards({ config, clock, log, ledger, shutdown, count: (reason) => metrics.turnedAway(reason) });
  const observe = (record: ExchangeRecord): void => {
    metrics.observe(record);
    logCall(log, record);
  };
  const gateway: Gateway = {
    clock,
    ids,
    ledger,
    sealer: entrusted.keyring.sealer,
    keptBudget: new KeptBudget({ clock }),
    custody: entrusted.custody,
    countTokens,
    observe,
    limits: config.limits,
    shutdown,
    slots: new CallSlots(config.rateLimit, (what) => metrics.turnedAway(what)),
    prices: () => inForce.prices,
    hosts: () => inForce.hosts,
    health,
  };
  const close = async (): Promise<void> => {
    guards.close();
    await egress.close();
    await entrusted.close();
    await countTokens.close();
  };
  return { gateway, metrics, guards, entrusted, close };
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}

/** The listeners: callers' port, the operator's socket and, for a hosted gateway, health and metrics on loopback. */
interface Doors {
  readonly url: string;
  readonly operationsUrl: string | null;
  close(): Promise<void>;
}

async function openDoors(
  terms: StartTerms,
  books: Books,
  core: Core,
  gate: AuthGate,
  socketPath: string | null,
): Promise<Doors> {
  const { config, log } = terms;
  const { gateway, metrics } = core;
  let draining = false;
  const isDraining = (): boolean => draining;
  const health = healthAnswers({ health: () => books.health(), draining: isDraining });
  const all = new Map([...health, metricsAnswer(metrics)]);
  const server = buildServer({
    gateway,
    routes: routeTable(gateway),
    operations: config.hosted ? new Map(health) : all,
    authenticate: (rawHeaders) => authenticate(rawHeaders, gate),
    turnAway: core.guards.turnAway,
    guard: { local: !config.hosted, allowedHosts: config.allowedHosts, allowedOrigins: config.origins },
    patience: config.limits,
    log,
    draining: isDraining,
  });
  const operations = config.hosted ? buildOperations(config.allowedHosts, config.limits, all) : null;
  const { host, port, operationsPort } = config.listen;
  const url = await server.listen({ host, port });
  const operationsUrl =
    operations === null ? null : await operations.listen({ host: '127.0.0.1', port: operationsPort });
  const control =
    socketPath === null ? null : await openControlSocket(socketPath, verbsOf(terms, books, core, gate, url));
  const close = async (): Promise<void> => {
    draining = true;
    await drain(server, gateway, config.limits.shutdownMs, log);
    if (control !== null) await closeServer(control);
    if (operations !== null) await closeListener(operations);
  };
  return { url, operationsUrl, close };
}

type AuthGate = Gate & { readonly directory: KeyDirectory };

function verbsOf(terms: StartTerms, books: Books, core: Core, gate: AuthGate, url: string): RunVerb {
  const { clock, config } = terms;
  const { store, ledger, ids, backUp } = books;
  const operator: OperatorServices = {
    store,
    ledger,
    clock,
    ids,
    backUp,
    moved: null,
    catalog: () => core.gateway.prices().catalog,
    directory: gate.directory,
    masterKeys: () => core.entrusted.keyring,
    server: { url, pid: process.pid, hosted: config.hosted, startedMs: clock.nowMs() },
  };
  return (verb, input) => answerOperator(operator, verb, input);
}

/** No new connection; calls under way may end in their own time, then they are told; the last settle is awaited. */
async function drain(server: Listener, { clock, shutdown }: Gateway, waitMs: number, log: Log): Promise<void> {
  const closed = server.close();
  const deadline = clock.after(waitMs, () => {
    log.warn({ calls: shutdown.callsUnderWay }, 'Calls under way are cut short.');
    shutdown.cutShort();
  });
  await shutdown.idle();
  deadline.cancel();
  const lastWords = clock.after(LIMITS.lastWordMs, () => server.cutAll());
  await closed;
  lastWords.cancel();
  // A request that was still arriving has become a call by now, of a client that is gone.
  shutdown.cutShort();
  await shutdown.idle();
}

function closeListener(listener: Listener): Promise<void> {
  const closed = listener.close();
  listener.cutAll();
  return closed;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
