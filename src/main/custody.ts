import type { Config } from '../config/config.ts';
import { Custody } from '../custody/custody.ts';
import { MasterKeyring } from '../custody/keyring.ts';
import type { MasterKeys } from '../custody/seal.ts';
import { GuardedEgress, type GuardTerms } from '../egress/guarded-egress.ts';
import type { Clock } from '../kit/clock.ts';
import type { Books } from './books.ts';

/** What tests replace: the network that callers' URLs lead to. */
export type GuardedWorld = Pick<GuardTerms, 'resolve' | 'dial' | 'ownAddresses' | 'ports' | 'certificateAuthorities'>;

interface CustodyOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly books: Pick<Books, 'store' | 'ids'>;
  /** Absent: they are read as the config says. */
  readonly masterKeys?: MasterKeys | undefined;
  readonly world?: GuardedWorld | undefined;
}

/** Stored provider keys, the master keys that encrypt them, and the guarded connections to callers' URLs. */
export interface Entrusted {
  readonly keyring: MasterKeyring;
  readonly custody: Custody;
  readonly egress: GuardedEgress;
  /** Ports this process listens on: no caller's URL may lead there. */
  readonly ownPorts: Set<number>;
  close(): Promise<void>;
}

/** Throws a MasterKeyError if there is no master key. */
export function openCustody({ config, clock, books, masterKeys, world = {} }: CustodyOptions): Entrusted {
  const keyring = new MasterKeyring(config.masterKey, masterKeys);
  const ownPorts = new Set<number>();
  const egress = new GuardedEgress({
    clock,
    allowLoopback: !config.hosted,
    own: { ports: () => [...ownPorts], names: config.allowedHosts },
    ...world,
  });
  const custody = new Custody({ store: books.store, sealer: keyring.sealer, egress, ids: books.ids, clock });
  return { keyring, custody, egress, ownPorts, close: () => egress.close() };
}
