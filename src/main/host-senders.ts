import type { Transport } from '../config/config.ts';
import type { Sender } from '../egress/sender.ts';
import type { ConfiguredHost } from '../hosts/host.ts';
import { HostConnections } from '../http1/client/host-connections.ts';
import { UndiciClient } from '../http1/undici-client.ts';

/** A sender with the connections it keeps. */
interface KeepingSender extends Sender {
  readonly openConnections: number;
  /** Requests that wait for a connection. */
  readonly waiting: number;
  keepOnly(origins: ReadonlySet<string>): void;
  close(): Promise<void>;
}

/** The connections to the operator's hosts: over the configured transport, or through proxies, always with undici. */
export class HostSenders {
  /** To one host. */
  readonly connectionsMax: number;
  readonly #direct: KeepingSender;
  /** By the proxy's URL. */
  readonly #proxied = new Map<string, UndiciClient>();

  constructor(transport: Transport, connectionsMax: number) {
    this.connectionsMax = connectionsMax;
    this.#direct =
      transport === 'own'
        ? new HostConnections({ connectionsMax })
        : new UndiciClient({ resends: true, connectionsMax });
  }

  senderFor({ proxy }: Pick<ConfiguredHost, 'proxy'>): Sender {
    if (proxy === undefined) return this.#direct;
    const url = proxy.url.reveal();
    let sender = this.#proxied.get(url);
    if (sender === undefined) {
      sender = new UndiciClient({
        resends: true,
        connectionsMax: this.connectionsMax,
        proxy: { url, name: proxy.name },
      });
      this.#proxied.set(url, sender);
    }
    return sender;
  }

  /**
   * Closes the connections that only hosts of an earlier config used, each when its call has ended. The client of a proxy
   * that had calls until then is forgotten by the next reload.
   */
  keepOnly(hosts: readonly Pick<ConfiguredHost, 'row' | 'proxy'>[]): void {
    const originsBehind = (proxyUrl: string | undefined): Set<string> =>
      new Set(
        hosts.filter(({ proxy }) => proxy?.url.reveal() === proxyUrl).map(({ row }) => new URL(row.baseUrl).origin),
      );
    this.#direct.keepOnly(originsBehind(undefined));
    for (const [url, sender] of this.#proxied) {
      const origins = originsBehind(url);
      sender.keepOnly(origins);
      if (origins.size === 0 && sender.isUnused) this.#proxied.delete(url);
    }
  }

  /** How many proxies have a client. */
  get proxies(): number {
    return this.#proxied.size;
  }

  /** Connections open to any host, for metrics and for tests that look for leaks. */
  get openConnections(): number {
    return this.#all().reduce((sum, { openConnections }) => sum + openConnections, 0);
  }

  /** Requests that wait because a host has reached its limit of calls. */
  get waiting(): number {
    return this.#all().reduce((sum, { waiting }) => sum + waiting, 0);
  }

  async close(): Promise<void> {
    await Promise.all(this.#all().map((sender) => sender.close()));
  }

  #all(): KeepingSender[] {
    return [this.#direct, ...this.#proxied.values()];
  }
}
