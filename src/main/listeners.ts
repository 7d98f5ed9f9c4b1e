import type { Server } from 'node:http';
import type { Config } from '../config/config.ts';
import type { AuditTerms } from '../http/caller-audit.ts';
import { openControlSocket, type RunVerb } from '../http/control-socket.ts';
import { healthResponses, metricsResponse } from '../http/health.ts';
import { buildOperations, type OperationsResponses } from '../http/operations.ts';
import { clientAddress, trustedProxies } from '../http1/client-address.ts';
import { ConnectionLimit } from '../http1/connection-limit.ts';
import type { HttpServer } from '../http1/server.ts';
import { openAll } from '../kit/cleanup.ts';
import { LIMITS } from '../limits.ts';
import { commandLine } from '../operator/actor.ts';
import type { OperatorServices } from '../operator/operator.ts';
import { callersServer } from './callers-server.ts';
import { closeListener, closeServer, drain, giveNotice } from './drain.ts';
import { HTTP_SERVERS } from './http-servers.ts';
import { type Management, openManagement } from './manage.ts';
import { type Addresses, operatorServices } from './operator-services.ts';
import { routeTable } from './routes.ts';
import type { ServedParts } from './served-parts.ts';

/** The listeners: the callers' port, the control socket, and the ports of health and metrics and of the management API. */
interface Listeners {
  readonly url: string;
  readonly operationsUrl: string | null;
  readonly consoleUrl: string | null;
  close(): Promise<void>;
}

/** How far the process has got in stopping. */
interface Stopping {
  isAnnounced: boolean;
  hasBegun: boolean;
}

/** `socketPath` is null where commands need no control socket. */
export async function openListeners(parts: ServedParts, socketPath: string | null): Promise<Listeners> {
  const { terms, books, core } = parts;
  const { config } = terms;
  const stopping: Stopping = { isAnnounced: false, hasBegun: false };
  const health = healthResponses({ health: () => books.health(), draining: () => stopping.isAnnounced });
  const all = new Map([...health, metricsResponse(core.metrics)]);
  let listening: Addresses | null = null;
  const management = managementOf(parts, stopping, () => listening);
  parts.gate.page = management.page;
  const server = await firstServer(parts, stopping, management, config.hosted ? new Map(health) : all);
  const operations = config.hosted ? operationsServer(config, all) : null;
  let control: Server | null = null;
  const close = async (): Promise<void> => {
    stopping.isAnnounced = true;
    const { shutdownMs, shutdownNoticeMs } = config.limits;
    if (listening !== null && shutdownNoticeMs > 0) await giveNotice(terms.clock, shutdownNoticeMs);
    stopping.hasBegun = true;
    parts.jobs.endWaits();
    management.endFeeds();
    const servers = management.server === null ? [server] : [server, management.server];
    await drain(servers, core.gateway, shutdownMs, terms.log);
    if (control !== null) await closeServer(control);
    if (operations !== null) await closeListener(operations);
  };
  return openAll(async (cleanup) => {
    // Added before any of them listens, because `close` closes them in its own order, and does nothing with one that does not listen yet.
    cleanup.add(close);
    const { host, port, operationsHost, operationsPort, consolePort } = config.listen;
    const url = await server.listen({ host, port });
    const operationsUrl = (await operations?.listen({ host: operationsHost, port: operationsPort })) ?? null;
    const consoleUrl = (await management.server?.listen({ host, port: consolePort ?? 0 })) ?? null;
    listening = { url, manageUrl: consoleUrl ?? url, startedMs: terms.clock.nowMs() };
    const operator = { ...operatorServices(parts, listening), actor: commandLine() };
    if (socketPath !== null) control = await openControlSocket(socketPath, verbsFor(operator));
    return { url, operationsUrl, consoleUrl, close };
  });
}

/** `addresses` is null until the process listens. */
function managementOf(parts: ServedParts, stopping: Stopping, addresses: () => Addresses | null): Management {
  const { terms, books, core, gate } = parts;
  const { config, log, clock } = terms;
  return openManagement({
    config,
    store: books.store,
    clock,
    ids: books.ids,
    log,
    servicesFor: (actor) => ({ ...operatorServices(parts, addresses() ?? NOWHERE), actor }),
    url: () => addresses()?.manageUrl ?? null,
    connectionLimit: core.connectionLimit,
    caches: core.caches,
    countSignIn: (outcome) => core.metrics.signIn(outcome),
    draining: () => stopping.hasBegun,
    findKey: (id) => gate.directory.findById(id),
  });
}

const NOWHERE: Addresses = { url: '', manageUrl: '', startedMs: 0 };

async function firstServer(
  { terms, books, core, gate, jobs, signer, workers }: ServedParts,
  stopping: Stopping,
  management: Management,
  operations: OperationsResponses,
): Promise<HttpServer> {
  const { config, log, clock } = terms;
  const isTrusted = trustedProxies(config.trustedProxies);
  const auditTerms: AuditTerms = { clock, ids: books.ids, clientAddress: (...by) => clientAddress(...by, isTrusted) };
  const webhooks = { ...core.webhooks, ...auditTerms };
  const { ledger } = books;
  return callersServer(
    { config, log, core, gate },
    {
      createHttpServer: await workers.serverOf(HTTP_SERVERS[config.transport]),
      routes: routeTable({ gateway: core.gateway, ledger, signer, webhooks, jobs: jobs.jobs }),
      operations,
      manage: management.onCallersPort,
      draining: () => stopping.hasBegun,
    },
  );
}

/** Loaded on demand, as the management API is: most requests are calls. */
function verbsFor(operator: OperatorServices): RunVerb {
  return async (verb, input) => {
    const { answerOperator } = await import('../operator/operator.ts');
    return answerOperator(operator, verb, input);
  };
}

function operationsServer(config: Config, answers: OperationsResponses): HttpServer {
  return buildOperations({
    createHttpServer: HTTP_SERVERS[config.transport],
    allowedHosts: config.allowedHosts,
    timeouts: config.limits,
    connections: new ConnectionLimit(LIMITS.operationsConnectionsMax),
    answers,
  });
}
