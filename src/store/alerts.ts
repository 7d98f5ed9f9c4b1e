import type { AuditRow } from './people.ts';

/** What an alert is about. */
export const ALERT_KINDS = ['balance', 'key_cap', 'person_cap', 'host', 'losses', 'disk', 'verify'] as const;
export type AlertKind = (typeof ALERT_KINDS)[number];

export interface NewAlert {
  readonly id: bigint;
  /** Names what is the case: while an alert with it is open, no second one is stored. */
  readonly condition: string;
  readonly kind: AlertKind;
  /** The account that the alert is about and for; null if it is for the operator. */
  readonly accountId: bigint | null;
  /** The id or the name of what it is about: an account, a key, a person, a host. */
  readonly subject: string;
  readonly message: string;
  /** JSON with the figures. */
  readonly dataJson: string;
  readonly createdMs: number;
}

export interface Alert extends NewAlert {
  /** When it was resolved; null while it is open. */
  readonly resolvedMs: number | null;
  readonly acknowledgedMs: number | null;
  readonly acknowledgedBy: string | null;
  /** When a process last found that it holds. */
  readonly seenMs: number;
}

/** `open`: there is one already. `reopened`: the last one is recent, and is open again without being sent again. */
export type Raised = 'raised' | 'open' | 'reopened';

export interface AlertFilter {
  readonly accountId: bigint | null;
  readonly kind: AlertKind | null;
  /** True for those that nobody has acknowledged. */
  readonly unacknowledged: boolean;
  readonly open: boolean;
}

/** The alert thresholds of an account. Null is the gateway's setting, 0 turns the alert off. */
export interface AlertSettings {
  readonly balanceBelowNanousd: bigint | null;
  /** The share of a cap at which the first of its two alerts is raised; the second one is at 100. */
  readonly capPercent: number | null;
}

export interface AlertRows {
  /**
   * Stores an alert once per condition, over all processes, and stores the events for webhooks in the same commit. One that was raised
   * less than `quietMs` ago and resolved since is opened again instead.
   */
  raiseAlert(alert: NewAlert, quietMs: number): Promise<Raised>;
  /** False if none is open. */
  resolveAlert(condition: string, nowMs: number): Promise<boolean>;
  /** Notes that open alerts still hold, so that other processes do not resolve them. */
  confirmAlerts(conditions: readonly string[], nowMs: number): Promise<void>;
  /** Open ones by id, to see whether they still hold. */
  openAlerts(page: { readonly after: bigint | null; readonly limit: number }): Promise<Alert[]>;
  /** The conditions among these that have an open alert. */
  openConditions(conditions: readonly string[]): Promise<string[]>;
  findAlert(id: bigint): Promise<Alert | null>;
  /** Newest first. */
  listAlerts(filter: AlertFilter, page: { readonly before: bigint | null; readonly limit: number }): Promise<Alert[]>;
  /** The first acknowledgement stands. */
  acknowledgeAlert(id: bigint, by: string, nowMs: number, audit: AuditRow): Promise<Alert | 'not_found'>;
  /** Deletes resolved ones from before that time, and the oldest beyond `LIMITS.alertsKept`; returns how many. */
  forgetAlerts(beforeMs: number): Promise<number>;
  alertSettings(accountId: bigint): Promise<AlertSettings>;
  /** `changed`: the settings are no longer those that were read before; without these, nothing is compared. */
  putAlertSettings(
    accountId: bigint,
    settings: AlertSettings,
    audit: AuditRow,
    known?: AlertSettings,
  ): Promise<'stored' | 'changed'>;
  /** The losses of the next calls after that id and up to the last one, at most this many, and where to continue; null at the end. */
  lossesBetween(
    id: bigint,
    lastId: bigint,
    limit: number,
  ): Promise<{ readonly lossNanousd: bigint; readonly next: bigint | null }>;
}
