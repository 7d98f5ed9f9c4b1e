import type { Alerts } from '../alerts/alerts.ts';
import type { Custody } from '../custody/custody.ts';
import type { HostReport } from '../hosts/hosts-health.ts';
import type { VerifyProgress } from '../ledger/ledger.ts';
import { OperatorError } from './error.ts';
import type { VerifyTask } from './verify-task.ts';

/** What only a running server has. */
export interface LiveServices {
  readonly version: string;
  readonly custody: Custody;
  readonly alerts: Alerts;
  /** The ledger's verification that runs in this process, or the last one. */
  readonly verification: VerifyTask;
  /** The progress of each verb that a command has sent to this server. */
  readonly running: Map<string, VerifyProgress>;
  hosts(): readonly HostReport[];
  /** The configuration in force, without secrets. */
  settings(): Readonly<Record<string, unknown>>;
  /** Where settings that are not at their default come from, by their path in `settings`. */
  settingSources(): Readonly<Record<string, string>>;
  /** Free space of the disk with the data folder; null if it is not known. */
  diskFreeBytes(): Promise<number | null>;
}

export function liveServices({ live }: { readonly live?: LiveServices | null }): LiveServices {
  if (live !== undefined && live !== null) return live;
  throw new OperatorError('refused', 'Only a running server can do this. Start it with `tollgate serve`.');
}
