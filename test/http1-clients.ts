import { HostConnections } from '../src/http1/client/host-connections.ts';
import type { Sender } from '../src/http1/client.ts';
import { UndiciClient } from '../src/http1/undici-client.ts';

export interface Connections extends Sender {
  readonly openConnections: number;
  readonly origins: number;
  readonly waiting: number;
  keepOnly(origins: ReadonlySet<string>): void;
  close(): Promise<void>;
}

/** Both implementations of the seam to hosts; what a gateway relies on holds for either. */
export const CLIENTS: readonly [string, (connectionsMax?: number) => Connections][] = [
  ['own', (connectionsMax = 100) => new HostConnections({ connectionsMax })],
  ['undici', (connectionsMax = 100) => new UndiciClient({ resends: true, connectionsMax })],
];
