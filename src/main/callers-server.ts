import { authenticate } from '../accounts/authenticate.ts';
import type { Config } from '../config/config.ts';
import { buildServer, type ServerTerms } from '../http/server.ts';
import type { HttpServer } from '../http1/server.ts';
import type { Log } from '../kit/log.ts';
import type { CallCore } from './call-core.ts';
import type { AuthGate } from './gate.ts';

interface CallersServerParts {
  readonly config: Config;
  readonly log: Log;
  readonly core: CallCore;
  readonly gate: AuthGate;
}

/** What the first worker and the others serve differently. */
type OwnTerms = Pick<ServerTerms, 'createHttpServer' | 'routes' | 'operations' | 'manage' | 'draining'>;

/** The callers' port, in one worker. */
export function callersServer({ config, log, core, gate }: CallersServerParts, own: OwnTerms): HttpServer {
  return buildServer({
    ...own,
    gateway: core.gateway,
    authenticate: (request) => authenticate(request, gate),
    turnAway: core.guards.turnAway,
    guard: { local: !config.hosted, allowedHosts: config.allowedHosts, allowedOrigins: config.origins },
    timeouts: config.limits,
    connectionLimit: core.connectionLimit,
    bodyMemory: core.bodyMemory,
    log,
  });
}
