import { KEY_CHOICE } from '../../accounts/authenticate-page.ts';
import type { Config } from '../../config/config.ts';
import { HostsHealth } from '../../hosts/hosts-health.ts';
import { pathOf, Router } from '../../http/router.ts';
import type { CreateHttpServer, HttpServer } from '../../http1/server.ts';
import { Caches } from '../../kit/caches.ts';
import { type Cleanup, openAll } from '../../kit/cleanup.ts';
import { type Clock, clockFrom } from '../../kit/clock.ts';
import { createLog, errorFields, type Log } from '../../kit/log.ts';
import { LIMITS } from '../../limits.ts';
import { StoreVanished } from '../../store/store.ts';
import { type Books, joinBooks, openBooks } from '../books.ts';
import { buildCallCore, type CallCore } from '../call-core.ts';
import { callRoutes } from '../call-routes.ts';
import { callersServer } from '../callers-server.ts';
import { drain } from '../drain.ts';
import { openGate } from '../gate.ts';
import { tellHostEvent } from '../host-events.ts';
import { HostSenders } from '../host-senders.ts';
import { HTTP_SERVERS } from '../http-servers.ts';
import { logInstanceEvent } from '../instance-events.ts';
import { logTrouble } from '../log-trouble.ts';
import { prepareReload, type ReloadParts, type UseSettings } from '../reload.ts';
import { openSettingsInForce } from '../settings-in-force.ts';
import { openTracing } from '../trace-exporter.ts';
import { Forwarder } from './forward-request.ts';
import { LineRelay } from './line-relay.ts';
import type { Order, Report, Settings, WorkerTerms } from './messages.ts';
import { unpackSecrets } from './pack-secrets.ts';
import { PayerRelay } from './payer-relay.ts';
import { shareOf } from './share-of.ts';
import { threadState } from './thread-state.ts';

/** A worker in its own thread. */
interface OpenWorker {
  obey(order: Order): Promise<void>;
}

/** Everything that calls need, in a thread of its own. What a process has once stays in the first worker. */
export function openWorker(terms: WorkerTerms, report: (report: Report) => void): Promise<OpenWorker> {
  const { config, hosts } = unpackSecrets<Settings>(terms.settings);
  const clock = clockFrom(terms.clockBaseMs);
  const lines = new LineRelay((written) => report({ kind: 'log', lines: written }));
  const log = createLog({ level: config.logLevel, destination: lines });
  return openAll(async (cleanup) => {
    cleanup.add(() => lines.flush());
    const books = await openLedger(terms, config, clock, log);
    cleanup.add(books.close);
    return serveCalls({ terms, config, hosts, clock: books.clock, log, books, report, cleanup });
  });
}

/** After a failure of the store the process ends, unless its files are gone: then calls are refused. */
function endUnlessVanished(error: Error): void {
  if (!(error instanceof StoreVanished)) throw error;
}

function openLedger({ ticket, worker }: WorkerTerms, config: Config, clock: Clock, log: Log): Promise<Books> {
  const onTrouble = logTrouble(log);
  if (ticket !== null) return joinBooks({ config, clock, ticket, worker, onFatal: endUnlessVanished, onTrouble });
  const onInstanceEvent = (event: Parameters<typeof logInstanceEvent>[0]): void => logInstanceEvent(event, log);
  return openBooks({ config, clock, socketPath: null, onFatal: endUnlessVanished, onInstanceEvent, onTrouble });
}

interface WorkerParts extends Settings {
  readonly terms: WorkerTerms;
  readonly clock: Clock;
  readonly log: Log;
  readonly books: Books;
  report(report: Report): void;
  readonly cleanup: Cleanup;
}

async function serveCalls(parts: WorkerParts): Promise<OpenWorker> {
  const { terms, config, clock, log, books, report, cleanup } = parts;
  const egress = new HostSenders(config.transport, shareOf(config.limits.callsPerHost, terms));
  cleanup.add(() => egress.close());
  const health = new HostsHealth(
    config.health,
    clock,
    (event) => tellHostEvent(event, log, core.metrics.hosts),
    (news) => report({ kind: 'news', news }),
  );
  const inForce = await openSettingsInForce(parts, books.store, egress, health);
  const tracing = await openTracing({ config, clock, log });
  cleanup.add(async () => tracing?.close());
  const payers = new PayerRelay(clock, (paid) => report({ kind: 'payers', payers: paid }));
  cleanup.add(() => payers.flush());
  const { masterKeys } = terms;
  const shared = { isFirstWorker: false, state: threadState(terms.memory, terms.worker), masterKeys };
  const caches = new Caches();
  caches.add('changed_payers', 2 * LIMITS.alertChangesMax, () => payers.waiting);
  const call = { books, inForce, egress, health, tracing, caches, ...shared };
  const core = buildCallCore({ ...call, terms: { config, clock, log }, notePayer: (record) => payers.note(record) });
  cleanup.add(() => core.close());
  const listener = await openPort(parts, core);
  const { keyring } = core.entrusted;
  const reload = new PreparedReload({ store: books.store, keyring, inForce, egress, health });
  return { obey: (order) => obey(order, { parts, core, health, listener, reload }) };
}

/** The callers' port as this worker serves it. */
interface CallersPort {
  readonly server: HttpServer;
  /** Counts the calls that arrived here and that the first worker runs. */
  readonly callsElsewhere: Forwarder['calls'];
  /** Connections end after their response from now on. */
  startDraining(): void;
}

async function openPort(
  { terms, config, clock, log, books, cleanup }: WorkerParts,
  core: CallCore,
): Promise<CallersPort> {
  const gate = await openGate({ config, clock, log, books, caches: core.caches, cleanup }, terms.localAccountId);
  const forwarder = new Forwarder(terms.forwarding);
  let draining = false;
  const server = callersServer(
    { config, log, core, gate },
    {
      createHttpServer: forwardingOthers(HTTP_SERVERS[config.transport], forwarder),
      routes: callRoutes(),
      operations: new Map(),
      manage: null,
      draining: () => draining,
    },
  );
  return {
    server,
    callsElsewhere: forwarder.calls,
    startDraining: () => {
      draining = true;
    },
  };
}

/** Serves calls here and lets the first worker answer everything else, and calls from its pages. */
function forwardingOthers(create: CreateHttpServer, forwarder: Forwarder): CreateHttpServer {
  const router = new Router(callRoutes());
  return (terms) =>
    create({
      ...terms,
      answer: (request, response) => {
        const isCall = router.find(request.method, pathOf(request.url)) !== null;
        if (isCall && request.headers[KEY_CHOICE] === undefined) terms.answer(request, response);
        else forwarder.forward(request, response, isCall);
      },
    });
}

/** A reload in this worker, which takes effect only when every other worker is ready for it, too. */
class PreparedReload {
  readonly #parts: ReloadParts;
  #use: UseSettings | null = null;

  constructor(parts: ReloadParts) {
    this.#parts = parts;
  }

  async prepare({ settings }: Extract<Order, { kind: 'prepare_reload' }>): Promise<void> {
    this.#use = null;
    this.#use = await prepareReload(this.#parts, unpackSecrets<Settings>(settings));
  }

  finish({ keys }: Extract<Order, { kind: 'finish_reload' }>): void {
    this.#use?.(keys);
    this.#use = null;
  }
}

interface Obeying {
  readonly parts: WorkerParts;
  readonly core: CallCore;
  readonly health: HostsHealth;
  readonly listener: CallersPort;
  readonly reload: PreparedReload;
}

async function obey(order: Order, { parts, core, health, listener, reload }: Obeying): Promise<void> {
  const { report, config, log, cleanup } = parts;
  switch (order.kind) {
    case 'listen':
      await listener.server.listen({ host: order.host, port: order.port, shared: true });
      report({ kind: 'listening' });
      return;
    case 'own_ports':
      for (const port of order.ports) core.entrusted.ownPorts.add(port);
      return;
    case 'prepare_reload':
      await reload.prepare(order).then(
        () => report({ kind: 'prepared', problem: null }),
        (error: unknown) => report({ kind: 'prepared', problem: errorFields(error).error.message }),
      );
      return;
    case 'finish_reload':
      reload.finish(order);
      report({ kind: 'reloaded' });
      return;
    case 'use_keys':
      core.entrusted.keyring.use(order.keys);
      return;
    case 'news':
      health.adopt(order.news);
      return;
    case 'ids_above':
      parts.books.ids.continueAbove(order.id);
      return;
    case 'metrics':
      report({ kind: 'metrics', number: order.number, part: await core.metrics.part() });
      return;
    case 'drain':
      listener.startDraining();
      await drain([listener.server], core.gateway, config.limits.shutdownMs, log, listener.callsElsewhere);
      await cleanup.run();
      report({ kind: 'drained' });
  }
}
