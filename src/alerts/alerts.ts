import { ACCOUNT_PREFIX, ALERT_PREFIX } from '../canonical/id-prefixes.ts';
import { stringifyJson } from '../json/stringify.ts';
import type { Clock } from '../kit/clock.ts';
import { formatId } from '../kit/ids.ts';
import type { AlertKind, AlertRows, NewAlert } from '../store/alerts.ts';
import type { Directory } from '../store/directory.ts';

export type AlertStore = Pick<Directory, keyof AlertRows>;

/** A condition that holds now. */
export interface Finding {
  /** The same text as long as it is the same condition. */
  readonly condition: string;
  readonly kind: AlertKind;
  readonly accountId: bigint | null;
  readonly subject: string;
  readonly message: string;
  readonly figures: Readonly<Record<string, bigint | number | string>>;
}

/** What was looked at: conditions that hold, and conditions that do not. */
export interface Checked {
  readonly findings: readonly Finding[];
  readonly cleared: readonly string[];
}

interface AlertsTerms {
  readonly store: AlertStore;
  readonly clock: Clock;
  readonly ids: { next(): bigint };
  /** Called by the process that stored the alert, and by no other. */
  onRaised(alert: NewAlert): void;
}

/** Raises every alert once, over all processes, and resolves it when its condition is gone. */
export class Alerts {
  readonly #terms: AlertsTerms;

  constructor(terms: AlertsTerms) {
    this.#terms = terms;
  }

  /** Reads which of these are open first, so that nothing is written while nothing changes. */
  async update({ findings, cleared }: Checked, quietMs = 0): Promise<void> {
    const { store } = this.#terms;
    const conditions = [...findings.map(({ condition }) => condition), ...cleared];
    const open = new Set(await store.openConditions(conditions));
    for (const finding of findings) if (!open.has(finding.condition)) await this.#raise(finding, quietMs);
    for (const condition of cleared) if (open.has(condition)) await this.resolve(condition);
  }

  /** Other processes may see a host or a disk differently, and must not take the alert for one that nobody looks at. */
  async confirm(conditions: readonly string[]): Promise<void> {
    const { store, clock } = this.#terms;
    await store.confirmAlerts(conditions, clock.nowMs());
  }

  async resolve(condition: string): Promise<void> {
    const { store, clock } = this.#terms;
    await store.resolveAlert(condition, clock.nowMs());
  }

  async #raise(finding: Finding, quietMs: number): Promise<void> {
    const { store, clock, ids, onRaised } = this.#terms;
    const id = ids.next();
    const { condition, kind, accountId, subject, message } = finding;
    const dataJson = stringifyJson({
      alert: formatId(ALERT_PREFIX, id),
      kind,
      account: accountId === null ? null : formatId(ACCOUNT_PREFIX, accountId),
      subject,
      message,
      ...finding.figures,
    });
    const alert = { id, condition, kind, accountId, subject, message, dataJson, createdMs: clock.nowMs() };
    if ((await store.raiseAlert(alert, quietMs)) === 'raised') onRaised(alert);
  }
}
