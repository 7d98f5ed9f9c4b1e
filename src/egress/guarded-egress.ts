import type { IncomingHttpHeaders } from 'node:http';
import { connect, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { RequestControl, ResponseReceiver } from '../http1/client.ts';
import { UndiciClient } from '../http1/undici-client.ts';
import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { sameAddress, whatForbids } from './address.ts';
import { gatherResponse } from './bounded-response.ts';
import { meansThisMachine, readCallerUrl, type UrlRules, type VettedUrl } from './caller-url.ts';
import { EgressFailure, ForbiddenUrl } from './forbidden-url.ts';
import { type Dial, type DialTarget, pinnedConnector } from './pinned-connector.ts';
import { createResolver, type Resolve } from './resolve.ts';

/** The addresses of this gateway itself. */
interface OwnListeners {
  /** All ports on which this process listens. */
  ports(): readonly number[];
  /** Names by which callers reach it. */
  readonly names: readonly string[];
}

export interface GuardTerms {
  readonly clock: Clock;
  /** In local mode: resources on this machine may be called, also over http. */
  readonly allowLoopback: boolean;
  readonly own: OwnListeners;
  readonly resolve?: Resolve;
  readonly dial?: Dial;
  /** Addresses of this machine. */
  readonly ownAddresses?: () => readonly string[];
  /** Ports allowed for https. */
  readonly ports?: readonly number[];
  readonly certificateAuthorities?: string;
}

export interface GuardedRequest {
  readonly method?: 'GET' | 'POST';
  /** Path and query; by default those of the URL. */
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer;
  /** The account for which it is sent; absent: the gateway itself. */
  readonly onBehalfOf?: bigint;
}

interface ResponseBounds {
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
}

export interface GuardedResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The usual ports of https: enough for every provider, too few to scan with. */
const USUAL_PORTS = [443, 8443];
const LOCAL_ADDRESSES = ['127.0.0.1', '::1'];

/**
 * Sends requests to URLs that callers give; nothing else may. The text of a URL is checked once. Its addresses are checked
 * at every connection, and only checked addresses are connected to, even if the name resolves differently a moment later.
 */
export class GuardedEgress {
  readonly #rules: UrlRules;
  readonly #terms: GuardTerms;
  readonly #resolve: Resolve;
  readonly #ownAddresses: () => readonly string[];
  readonly #client: UndiciClient;

  constructor(terms: GuardTerms) {
    this.#terms = terms;
    this.#rules = {
      allowLoopback: terms.allowLoopback,
      ports: terms.ports ?? USUAL_PORTS,
      ownNames: terms.own.names.map((name) => name.toLowerCase().replace(/:\d+$/, '')),
    };
    this.#resolve = terms.resolve ?? createResolver();
    this.#ownAddresses = terms.ownAddresses ?? interfaceAddresses;
    this.#client = new UndiciClient({
      originsMax: LIMITS.callerOriginsMax,
      connectionsMax: LIMITS.callerOriginConnectionsMax,
      connect: pinnedConnector({
        findTargets: (host, port) => this.#findTargets(host, port),
        dial: terms.dial ?? (({ address, port }) => connect({ host: address, port })),
        clock: terms.clock,
        certificateAuthorities: terms.certificateAuthorities,
      }),
    });
  }

  /** For a new URL: checks its text and its addresses. Throws `ForbiddenUrl`. */
  async vet(text: string): Promise<VettedUrl> {
    const url = this.recall(text);
    await this.#findTargets(url.host, url.port);
    return url;
  }

  /** For a stored URL: checks its text. Its addresses are checked when it is connected to. Throws `ForbiddenUrl`. */
  recall(text: string): VettedUrl {
    return readCallerUrl(text, this.#rules);
  }

  /** Sends a request and reads the whole answer, within limits. Throws `ForbiddenUrl` or `EgressFailure`. */
  request(url: VettedUrl, request: GuardedRequest, bounds: ResponseBounds = {}): Promise<GuardedResponse> {
    return gatherResponse(
      (receiver) => this.send(url, request, receiver),
      this.#terms.clock,
      bounds.maxBytes ?? LIMITS.callerAnswerBytesMax,
      bounds.timeoutMs ?? LIMITS.callerAnswerMs,
    );
  }

  /** For a relay, which has limits of its own. Redirects and forbidden addresses are reported by `failed`. */
  send(url: VettedUrl, request: GuardedRequest, receiver: ResponseReceiver): RequestControl {
    const outgoing = {
      origin: url.origin,
      method: request.method ?? 'POST',
      path: request.path ?? url.path,
      headers: { 'accept-encoding': 'identity', ...request.headers },
      body: request.body ?? null,
      ...(request.onBehalfOf !== undefined && { onBehalfOf: request.onBehalfOf }),
    };
    const guarded = new UnredirectedResponse(receiver);
    guarded.control = this.#client.send(outgoing, guarded);
    return guarded.control;
  }

  /** Origins of callers that have connections. */
  get origins(): number {
    return this.#client.origins;
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #findTargets(host: string, port: number): Promise<readonly DialTarget[]> {
    const addresses = await this.#lookUp(host);
    if (addresses.length === 0) throw notPublic('unresolved');
    if (addresses.length > LIMITS.callerUrlAddressesMax) throw notPublic('address');
    for (const address of addresses) this.#refuseAddress(host, address, port);
    return addresses.map((address) => ({ address, port }));
  }

  async #lookUp(host: string): Promise<readonly string[]> {
    if (isIP(host) !== 0) return [host];
    return meansThisMachine(host) ? LOCAL_ADDRESSES : await this.#resolveInTime(host);
  }

  async #resolveInTime(name: string): Promise<readonly string[]> {
    const late = Promise.withResolvers<never>();
    const timer = this.#terms.clock.after(LIMITS.callerUrlLookupMs, () => {
      late.reject(new EgressFailure('timeout', "The URL's host name was not resolved in time."));
    });
    try {
      return await Promise.race([this.#resolve(name), late.promise]);
    } finally {
      timer.cancel();
    }
  }

  #refuseAddress(host: string, address: string, port: number): void {
    if (this.#rules.allowLoopback && meansThisMachine(host)) {
      if (this.#terms.own.ports().includes(port)) throw leadsToGateway();
      return;
    }
    const kind = whatForbids(address);
    const isName = isIP(host) === 0;
    if (kind !== null)
      throw isName
        ? notPublic('address')
        : new ForbiddenUrl('address', `The URL leads to ${kind}; its address must be public.`);
    if (!this.#ownAddresses().some((own) => sameAddress(own, address))) return;
    throw isName ? notPublic('own_listener') : leadsToGateway();
  }
}

/**
 * One message for a name that does not exist and for one that is not public: our name servers may know internal names, and
 * callers must not learn which of them exist.
 */
function notPublic(reason: 'unresolved' | 'address' | 'own_listener'): ForbiddenUrl {
  const message =
    "The URL's host name cannot be used: it does not exist, or not all of its addresses are public. Check its spelling.";
  return new ForbiddenUrl(reason, message);
}

function leadsToGateway(): ForbiddenUrl {
  return new ForbiddenUrl('own_listener', 'The URL leads to this gateway itself.');
}

/** All addresses of this machine. None of its ports may be called. */
function interfaceAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}

/** Refuses redirects, because their target was not checked. */
class UnredirectedResponse implements ResponseReceiver {
  readonly #receiver: ResponseReceiver;
  control: RequestControl | null = null;

  constructor(receiver: ResponseReceiver) {
    this.#receiver = receiver;
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    if (status >= 300 && status < 400) this.#refuse(status);
    else this.#receiver.head(status, headers);
  }

  data(chunks: readonly Buffer[]): void {
    this.#receiver.data(chunks);
  }

  end(): void {
    this.#receiver.end();
  }

  failed(error: Error): void {
    this.#receiver.failed(error);
  }

  #refuse(status: number): void {
    this.control?.cancel();
    this.#receiver.failed(
      new EgressFailure('redirect', `The host answered with a redirect (${status}), which is not followed.`),
    );
  }
}
