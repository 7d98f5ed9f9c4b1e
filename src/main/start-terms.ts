import type { Config } from '../config/config.ts';
import type { ConfiguredHost } from '../hosts/host.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log, RootLog } from '../kit/log.ts';
import type { GuardedWorld } from './custody.ts';

export interface StartTerms {
  readonly config: Config;
  /** The configured hosts, each with its address. */
  readonly hosts: readonly ConfiguredHost[];
  readonly clock: Clock;
  readonly log: Log & Partial<Pick<RootLog, 'dropped' | 'writeLines'>>;
  /** Threads that serve calls; absent: one. */
  readonly workers?: number;
  /** Replaces the network that callers' URLs lead to, in tests. */
  readonly world?: GuardedWorld;
  /** The disk failed, so nothing more can be made durable. */
  onFatal(error: Error): void;
}
