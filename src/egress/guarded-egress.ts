import type { IncomingHttpHeaders } from 'node:http';
import { connect, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { AnswerReceiver, RequestControl } from '../http1/client.ts';
import { UndiciClient } from '../http1/undici-client.ts';
import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { sameAddress, whatForbids } from './address.ts';
import { gatherAnswer } from './bounded-answer.ts';
import { meansThisMachine, readCallerUrl, type UrlRules, type VettedUrl } from './caller-url.ts';
import { EgressFailure, ForbiddenUrl } from './forbidden-url.ts';
import { type Dial, type DialTarget, pinnedConnector } from './pinned-connector.ts';
import { createResolver, type Resolve } from './resolve.ts';

/** Where this gateway itself can be met. */
export interface OwnDoors {
  /** Ports that this process listens at, of whatever it serves. */
  ports(): readonly number[];
  /** Names under which callers reach it. */
  readonly names: readonly string[];
}

export interface GuardTerms {
  readonly clock: Clock;
  /** Local mode: resources on this machine itself may be called, over http too. */
  readonly allowLoopback: boolean;
  readonly own: OwnDoors;
  readonly resolve?: Resolve;
  readonly dial?: Dial;
  /** Addresses of this machine. */
  readonly ownAddresses?: () => readonly string[];
  /** Ports https may be spoken at. */
  readonly ports?: readonly number[];
  readonly certificateAuthorities?: string;
}

export interface GuardedRequest {
  readonly method?: 'GET' | 'POST';
  /** Path and query; without one, those of the URL. */
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer;
}

export interface AnswerBounds {
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
}

export interface GuardedAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** What https is usually spoken at: enough for every provider, too little to look around with. */
const USUAL_PORTS = [443, 8443];
const LOCAL_ADDRESSES = ['127.0.0.1', '::1'];

/**
 * The one way out to URLs that callers give. What a URL says is judged once; where it leads is judged at every dial, and
 * only the addresses that were judged are dialed, whatever the name resolves to a moment later.
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

  /** For a URL that someone gives now: all of it is judged, its addresses too. Throws `ForbiddenUrl`. */
  async vet(text: string): Promise<VettedUrl> {
    const url = this.recall(text);
    await this.#findTargets(url.host, url.port);
    return url;
  }

  /** For a URL that was vetted when it was given: its addresses are judged when it is dialed. Throws `ForbiddenUrl`. */
  recall(text: string): VettedUrl {
    return readCallerUrl(text, this.#rules);
  }

  /** Asks and waits for the whole answer, within bounds. Throws `ForbiddenUrl` or `EgressFailure`. */
  request(url: VettedUrl, request: GuardedRequest, bounds: AnswerBounds = {}): Promise<GuardedAnswer> {
    return gatherAnswer(
      (receiver) => this.send(url, request, receiver),
      this.#terms.clock,
      bounds.maxBytes ?? LIMITS.callerAnswerBytesMax,
      bounds.timeoutMs ?? LIMITS.callerAnswerMs,
    );
  }

  /** For a relay, which brings its own bounds; a redirect, like anything forbidden, arrives as `failed`. */
  send(url: VettedUrl, request: GuardedRequest, receiver: AnswerReceiver): RequestControl {
    const outgoing = {
      origin: url.origin,
      method: request.method ?? 'POST',
      path: request.path ?? url.path,
      headers: { 'accept-encoding': 'identity', ...request.headers },
      body: request.body ?? null,
    };
    const guarded = new UnredirectedAnswer(receiver);
    guarded.control = this.#client.send(outgoing, guarded);
    return guarded.control;
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #findTargets(host: string, port: number): Promise<readonly DialTarget[]> {
    const addresses = await this.#lookUp(host);
    if (addresses.length === 0) {
      throw new ForbiddenUrl('unresolved', "The URL's host name has no address; check its spelling.");
    }
    if (addresses.length > LIMITS.callerUrlAddressesMax) {
      throw new ForbiddenUrl('address', `The URL's host name has more than ${LIMITS.callerUrlAddressesMax} addresses.`);
    }
    const local = this.#rules.allowLoopback && meansThisMachine(host);
    for (const address of addresses) this.#judge(address, port, local);
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

  #judge(address: string, port: number, local: boolean): void {
    if (local) {
      if (this.#terms.own.ports().includes(port)) throw leadsHome();
      return;
    }
    const kind = whatForbids(address);
    // The address itself stays untold: our name servers may know more than the caller's.
    if (kind !== null) throw new ForbiddenUrl('address', `The URL leads to ${kind}; it must lead to public ones only.`);
    if (this.#ownAddresses().some((own) => sameAddress(own, address))) throw leadsHome();
  }
}

function leadsHome(): ForbiddenUrl {
  return new ForbiddenUrl('own_listener', 'The URL leads to this gateway itself.');
}

/** Everything on a machine's own addresses is behind its doors, whichever port. */
function interfaceAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}

/** A redirect is an answer that is refused: its target was judged by nobody. */
class UnredirectedAnswer implements AnswerReceiver {
  readonly #receiver: AnswerReceiver;
  control: RequestControl | null = null;

  constructor(receiver: AnswerReceiver) {
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
