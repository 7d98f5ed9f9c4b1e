import type { Server } from 'node:http';
import type { FastifyInstance } from 'fastify';
import Fastify from 'fastify';
import { ensureLocalAccount } from '../accounts/accounts.ts';
import { authenticate, type Gate } from '../accounts/authenticate.ts';
import { KeyDirectory } from '../accounts/key-directory.ts';
import type { Config } from '../config.ts';
import { Egress } from '../egress/egress.ts';
import type { ExchangeRecord } from '../gateway/exchange-record.ts';
import type { Gateway, PricedCatalog } from '../gateway/gateway.ts';
import { Shutdown } from '../gateway/shutdown.ts';
import { HostDirectory } from '../hosts/directory.ts';
import type { ConfiguredHost } from '../hosts/host.ts';
import { logCall } from '../http/call-log.ts';
import { openControlSocket } from '../http/control-socket.ts';
import { addHealth, addMetrics } from '../http/health.ts';
import { Metrics } from '../http/metrics.ts';
import { plainRoutes } from '../http/plain-routes.ts';
import type { Route } from '../http/routes.ts';
import { buildServer } from '../http/server.ts';
import type { Clock } from '../kit/clock.ts';
import { errorFields, type Log } from '../kit/log.ts';
import { TokenCounter } from '../money/count-tokens.ts';
import { WIRES } from '../wires/registry.ts';
import { type Books, controlSocketPath, openBooks } from './books.ts';
import { catalogFor, rememberPrices } from './prices.ts';

export interface StartTerms {
  readonly config: Config;
  /** The configured hosts with every address filled in. */
  readonly hosts: readonly ConfiguredHost[];
  readonly clock: Clock;
  readonly log: Log;
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
  readonly voidedHolds: number;
  /** Takes a changed config's prices and models; calls under way keep theirs. */
  reload(config: Config, hosts: readonly ConfiguredHost[]): Promise<void>;
  /** Stops admitting, lets calls end, cuts the rest short, closes the books. */
  stop(): Promise<void>;
}

export async function startGateway(terms: StartTerms): Promise<Running> {
  const { config, clock } = terms;
  const socketPath = controlSocketPath(config.dataFolder);
  const books = await openBooks({
    folder: config.dataFolder,
    clock,
    url: `http://${config.listen.host}:${config.listen.port}`,
    socketPath,
    onFatal: terms.onFatal,
  });
  try {
    return await serveBooks(terms, books, socketPath);
  } catch (error) {
    await books.close();
    throw error;
  }
}

async function serveBooks(terms: StartTerms, books: Books, socketPath: string): Promise<Running> {
  const { config, clock, log } = terms;
  const directory = new KeyDirectory(books.store, clock);
  await directory.start();
  const localAccountId = config.hosted ? null : (await ensureLocalAccount({ ...books, clock })).id;
  let prices = await rememberPrices(books.store, catalogFor(config, terms.hosts));
  let hosts = new HostDirectory(terms.hosts);
  const shutdown = new Shutdown();
  const egress = new Egress();
  const tokenCounter = new TokenCounter(clock);
  const metrics = new Metrics({
    callsUnderWay: () => books.ledger.openHolds,
    ledgerDepth: () => books.ledger.depth,
    hostConnections: () => egress.openConnections,
  });
  const gateway: Gateway = {
    clock,
    ids: books.ids,
    prices: () => prices,
    get hosts() {
      return hosts;
    },
    egress,
    ledger: books.ledger,
    limits: config.limits,
    shutdown,
    countTokens: tokenCounter,
    observe: (record: ExchangeRecord) => {
      metrics.observe(record);
      logCall(log, record);
    },
  };
  let draining = false;
  const isDraining = (): boolean => draining;
  const gate: Gate = { directory, localAccountId };
  const server = buildServer({
    gateway,
    routes: routeTable(books, () => prices),
    authenticate: (rawHeaders) => authenticate(rawHeaders, gate),
    guard: { local: !config.hosted, allowedHosts: config.allowedHosts, allowedOrigins: config.origins },
    log,
    draining: isDraining,
  });
  const operations = config.hosted ? operationsServer() : null;
  const healthSources = { health: () => books.store.health(), draining: isDraining };
  addHealth(server, healthSources);
  if (operations !== null) addHealth(operations, healthSources);
  addMetrics(operations ?? server, metrics);
  const operator = {
    store: books.store,
    ledger: books.ledger,
    clock,
    ids: books.ids,
    models: () => prices.catalog,
    refreshKeys: () => directory.refresh(),
  };
  const url = await server.listen({ host: config.listen.host, port: config.listen.port });
  const operationsUrl =
    operations === null ? null : await operations.listen({ host: '127.0.0.1', port: config.listen.operationsPort });
  const control = await openControlSocket(socketPath, async (verb, input) => (await import('../gateway/operator.ts' as string)).runVerb(operator, verb, input));
  return {
    url,
    operationsUrl,
    get catalog() {
      return prices.catalog;
    },
    books,
    gateway,
    voidedHolds: books.voidedHolds,
    reload: async (changed, changedHosts) => {
      const catalog = catalogFor(changed, changedHosts);
      prices = await rememberPrices(books.store, catalog);
      hosts = new HostDirectory(changedHosts);
    },
    stop: async () => {
      draining = true;
      directory.stop();
      await drain({ server, books, shutdown, clock, waitMs: config.limits.shutdownMs, log });
      await closeServer(control);
      await operations?.close();
      await egress.close();
      await tokenCounter.close();
      await books.close();
    },
  };
}

function routeTable({ store }: Books, prices: () => PricedCatalog): Route[] {
  return [
    { method: 'POST', path: '/chat/completions', access: 'key', wire: WIRES.chat! },
    ...plainRoutes({ store, prices }),
  ];
}

/** Health and metrics of a hosted gateway answer on loopback only. */
function operationsServer(): FastifyInstance {
  return Fastify();
}

interface DrainTerms {
  readonly server: FastifyInstance;
  readonly books: Books;
  readonly shutdown: Shutdown;
  readonly clock: Clock;
  readonly waitMs: number;
  readonly log: Log;
}

/** No new connection; calls under way may end in their own time, then they are told; the last settle is awaited. */
async function drain({ server, books, shutdown, clock, waitMs, log }: DrainTerms): Promise<void> {
  const deadline = clock.after(waitMs, () => {
    log.warn({ calls: books.ledger.openHolds }, 'Calls under way are cut short.');
    shutdown.cutShort();
  });
  try {
    await server.close();
  } catch (error) {
    log.error(errorFields(error), 'The server did not close in order.');
  }
  deadline.cancel();
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
