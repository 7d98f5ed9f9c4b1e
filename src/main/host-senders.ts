import type { Transport } from '../config/config.ts';
import type { Sender } from '../egress/sender.ts';
import type { ConfiguredHost } from '../hosts/host.ts';
import { HostConnections } from '../http1/client/host-connections.ts';
import { UndiciClient } from '../http1/undici-client.ts';

/** A sender with the connections it keeps. */
interface KeepingSender extends Sender {
  readonly openConnections: number;
  close(): Promise<void>;
}

/** The connections to the operator's hosts, over the configured transport. */
export class HostSenders {
  readonly #direct: KeepingSender;

  constructor(transport: Transport) {
    this.#direct = transport === 'own' ? new HostConnections() : new UndiciClient({ resends: true });
  }

  senderFor(_host: ConfiguredHost): Sender {
    return this.#direct;
  }

  /** Connections open to any host, for metrics and for tests that look for leaks. */
  get openConnections(): number {
    return this.#direct.openConnections;
  }

  async close(): Promise<void> {
    await this.#direct.close();
  }
}
