import type { PageGate } from '../accounts/authenticate-page.ts';
import { buildConsole } from '../http/console.ts';
import type { ManagementApi } from '../http/server.ts';
import type { HttpServer, InboundRequest, OutboundResponse } from '../http1/server.ts';
import { errorFields, type Log } from '../kit/log.ts';
import type { ManageHandler } from '../manage/handler.ts';
import { isManagementUrl } from '../manage/paths.ts';
import { HTTP_SERVERS } from './http-servers.ts';
import { openLocalToken } from './local-token.ts';
import { isSecure, type ManageParts } from './manage-parts.ts';

export interface Management {
  /** Lets the pages of this gateway make calls; null if there are none. */
  readonly page: PageGate | null;
  /** Null if the callers' port does not serve the API. */
  readonly onCallersPort: ManagementApi | null;
  /** Null unless the API has a port of its own. */
  readonly server: HttpServer | null;
  /** Ends the responses that would go on for ever, before the servers are closed. */
  endFeeds(): void;
}

const NOT_SERVED: Management = {
  page: null,
  onCallersPort: null,
  server: null,
  endFeeds: () => undefined,
};

/** The management API. In local mode, whoever can read the token in the data folder is the operator. */
export function openManagement(parts: ManageParts): Management {
  const { config, store, clock, log, url, findKey } = parts;
  if (!config.console) return NOT_SERVED;
  const localToken = config.hosted ? null : openLocalToken(config.dataFolder);
  const { publicUrl } = config;
  const ownOrigins = (): string[] => [...originsOf(url()), ...(publicUrl === null ? [] : [publicUrl])];
  const takesCookies = config.hosted && isSecure(publicUrl);
  const people = { directory: store.directory, clock, localToken, takesCookies, ownOrigins, publicOrigin: publicUrl };
  const handler = new ManageOnDemand(log, async () => {
    const { buildManageHandler } = await import('./manage-handler.ts');
    return buildManageHandler(parts, people);
  });
  const hasOwnPort = config.listen.consolePort !== null;
  return {
    page: { ...people, findKey },
    onCallersPort: hasOwnPort ? null : handler,
    server: hasOwnPort ? consoleServer(parts, handler) : null,
    endFeeds: () => handler.endFeeds(),
  };
}

function consoleServer({ config, ids, connectionLimit, draining }: ManageParts, manage: ManagementApi): HttpServer {
  return buildConsole({
    createHttpServer: HTTP_SERVERS[config.transport],
    manage,
    ids,
    local: !config.hosted,
    timeouts: config.limits,
    connections: connectionLimit,
    draining,
  });
}

/** Loads the management API with the first request for it: many gateways never get one. */
class ManageOnDemand implements ManagementApi {
  readonly serves = isManagementUrl;
  readonly #log: Log;
  readonly #load: () => Promise<ManageHandler>;
  #loading: Promise<ManageHandler> | null = null;
  #loaded: ManageHandler | null = null;

  constructor(log: Log, load: () => Promise<ManageHandler>) {
    this.#log = log;
    this.#load = load;
  }

  async answer(request: InboundRequest, response: OutboundResponse, requestId: string): Promise<void> {
    try {
      this.#loading ??= this.#load();
      this.#loaded ??= await this.#loading;
    } catch (error) {
      this.#loading = null;
      this.#log.error({ request_id: requestId, ...errorFields(error) }, 'The management API cannot be loaded.');
      response.destroy();
      return;
    }
    await this.#loaded.answer(request, response, requestId);
  }

  endFeeds(): void {
    this.#loaded?.endFeeds();
  }
}

/** A browser calls the loopback address by either name, and they are different origins. */
function originsOf(url: string | null): string[] {
  if (url === null) return [];
  const { origin, port } = new URL(url);
  return [origin, `http://localhost:${port}`];
}
