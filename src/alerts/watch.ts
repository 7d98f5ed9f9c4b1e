import type { CapOwner } from '../canonical/errors.ts';
import { KEY_PREFIX, PERSON_PREFIX } from '../canonical/id-prefixes.ts';
import type { Clock } from '../kit/clock.ts';
import { parseId } from '../kit/ids.ts';
import { pause } from '../kit/pause.ts';
import { Waker } from '../kit/waker.ts';
import { LIMITS } from '../limits.ts';
import type { Alert, AlertSettings } from '../store/alerts.ts';
import type { Account, KeyRow, Store } from '../store/store.ts';
import type { Alerts, Checked } from './alerts.ts';
import { type ChangedKey, ChangedPayers, type Payer, type Payers } from './changed-payers.ts';
import { checkBalance, checkKeyCap, checkPersonCap } from './money-checks.ts';
import { checkDisk, checkHosts, checkLosses, type HostState, isPastHour, lossHours } from './operation-checks.ts';
import { Sweep } from './sweep.ts';

/** Null turns an alert off. */
export interface WatchSettings {
  readonly balanceBelowNanousd: bigint | null;
  readonly capPercent: number | null;
  readonly lossesPerHourNanousd: bigint | null;
  readonly diskFreeBytes: number | null;
}

type WatchedStore = Pick<Store, 'findAccount' | 'listAccounts' | 'findKey' | 'listKeys' | 'spendingOf' | 'directory'>;

interface WatchTerms {
  readonly store: WatchedStore;
  readonly alerts: Alerts;
  readonly clock: Clock;
  readonly settings: WatchSettings;
  /** The name of this machine. */
  readonly machine: string;
  /** Null if there is no data folder, as a gateway on PostgreSQL may need none. */
  diskFreeBytes(): Promise<number | null>;
  hosts(): readonly HostState[];
  /** A look failed, for example because the store was unreachable; it is repeated. */
  onError(error: unknown): void;
}

/**
 * Looks every few seconds at what changed, and compares it with the store. A call only notes who paid for it. What such a
 * note misses (a process that died, money that was taken out, calls of a removed process) is found by a sweep once an hour.
 */
export class AlertWatch {
  readonly #terms: WatchTerms;
  readonly #changed = new ChangedPayers();
  readonly #sweep: Sweep;
  readonly #hostsAside = new Set<string>();
  /** When this process last confirmed its alerts about hosts and its disk, by condition. */
  readonly #confirmedMs = new Map<string, number>();
  /** When the first loss that has not been looked at was noted; null if there is none. */
  #lossesFromMs: number | null;
  #lossesAfterMs = 0;
  #recheckedUpTo: bigint | null = null;
  readonly #waker: Waker;
  #isStopped = false;

  constructor(terms: WatchTerms) {
    this.#terms = terms;
    this.#lossesFromMs = terms.clock.nowMs();
    this.#sweep = new Sweep(terms.store, terms.clock);
    this.#waker = new Waker(terms.clock, () => this.look().then(() => LIMITS.alertRoundMs));
  }

  /** Accounts and keys that it has yet to look at. */
  get waiting(): number {
    return this.#changed.size;
  }

  /** A call ended. `refusedCap`: whose cap it was refused for. */
  note(payer: Payer, costNanousd: bigint, lossNanousd: bigint, refusedCap: CapOwner | null): void {
    if (costNanousd > 0n || refusedCap !== null) this.#changed.note(payer, refusedCap);
    if (lossNanousd > 0n) this.#noteLoss();
  }

  /** The same for calls that ended in another worker. */
  noteAll({ accounts, keys, hasLosses }: Payers): void {
    for (const accountId of accounts) this.#changed.note({ accountId, key: null }, null);
    for (const { key, refusedCaps } of keys)
      for (const cap of refusedCaps.length === 0 ? [null] : refusedCaps)
        this.#changed.note({ accountId: key.accountId, key }, cap);
    if (hasLosses) this.#noteLoss();
  }

  #noteLoss(): void {
    this.#lossesFromMs ??= this.#terms.clock.nowMs();
  }

  start(): void {
    this.#waker.wakeIn(LIMITS.alertRoundMs);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#waker.stop();
    await this.#waker.idle();
  }

  /** One look. Each part is tried even if another fails. What all of them fail for, like an unreachable store, is said once. */
  async look(): Promise<void> {
    const parts = [
      () => this.#orSweep(async () => this.#lookAtAccounts(await this.#changedAccounts())),
      () => this.#orSweep(() => this.#lookAtKeys(this.#changed.takeKeys(LIMITS.alertRoundRows))),
      () => this.#lookAtHosts(),
      () => this.#lookAtDisk(),
      () => this.#lookAtLosses(),
      () => this.#recheck(),
      () => this.#sweepOn(),
    ];
    const said = new Set<string>();
    for (const part of parts) {
      if (this.#isStopped) return;
      await part().catch((error: unknown) => {
        if (!said.has(String(error))) this.#terms.onError(error);
        said.add(String(error));
      });
    }
  }

  /** What could not be looked at is no longer noted, so everything is. */
  #orSweep(look: () => Promise<void>): Promise<void> {
    return look().catch((error: unknown) => {
      this.#sweep.restart();
      throw error;
    });
  }

  async #changedAccounts(): Promise<Account[]> {
    const accounts: Account[] = [];
    for (const id of this.#changed.takeAccounts(LIMITS.alertRoundRows)) {
      const account = await this.#terms.store.findAccount(id);
      if (account !== null) accounts.push(account);
    }
    return accounts;
  }

  async #lookAtAccounts(accounts: readonly Account[]): Promise<void> {
    const checked: Checked[] = [];
    for (const account of accounts) checked.push(await this.#checkAccount(account));
    await this.#terms.alerts.update(together(checked));
  }

  async #checkAccount(account: Account): Promise<Checked> {
    return checkBalance(account, (await this.#settingsOf(account.id)).balanceBelowNanousd ?? 0n);
  }

  async #lookAtKeys(changed: readonly ChangedKey[]): Promise<void> {
    if (changed.length === 0) return;
    const { store, clock, alerts } = this.#terms;
    const spending = await store.spendingOf(changed.map(({ key }) => key));
    const checked: Checked[] = [];
    for (const { key, refusedCaps } of changed) {
      const percent = (await this.#settingsOf(key.accountId)).capPercent ?? 0;
      const { accountId, personId } = key;
      const member = personId === null ? null : await store.directory.findMember(accountId, personId, clock.nowMs());
      checked.push(checkKeyCap(key, spending.get(key.id), percent, refusedCaps.includes('key')));
      if (member !== null) checked.push(checkPersonCap(member, percent, refusedCaps.includes('person')));
    }
    await alerts.update(together(checked));
  }

  /** What the account wants, or else what the gateway's settings say; 0 is off. */
  async #settingsOf(accountId: bigint): Promise<AlertSettings> {
    const { store, settings } = this.#terms;
    const own = await store.directory.alertSettings(accountId);
    return {
      balanceBelowNanousd: own.balanceBelowNanousd ?? settings.balanceBelowNanousd,
      capPercent: own.capPercent ?? settings.capPercent,
    };
  }

  /** A host that fails now and then causes one alert an hour. Only a process that found it failing reports that it is healthy again. */
  async #lookAtHosts(): Promise<void> {
    const { findings, cleared } = checkHosts(this.#terms.hosts());
    const returned = cleared.filter((condition) => this.#hostsAside.has(condition));
    const lasting = findings.filter(({ condition }) => this.#hostsAside.has(condition));
    const found = findings.filter(({ condition }) => !this.#hostsAside.has(condition));
    const { alerts } = this.#terms;
    await alerts.update({ findings: found, cleared: returned }, LIMITS.alertQuietMs);
    for (const condition of returned) this.#hostsAside.delete(condition);
    for (const { condition } of found) this.#hostsAside.add(condition);
    // Another process, for which the host is healthy again, may have resolved the alert. It is not a new one.
    if (lasting.length > 0) await alerts.update({ findings: lasting, cleared: [] }, Number.POSITIVE_INFINITY);
    await this.#confirm(findings);
  }

  async #confirm(findings: Checked['findings']): Promise<void> {
    const nowMs = this.#terms.clock.monotonicMs();
    const due = findings
      .map(({ condition }) => condition)
      .filter((condition) => nowMs - (this.#confirmedMs.get(condition) ?? -Infinity) >= LIMITS.alertConfirmMs);
    if (due.length === 0) return;
    await this.#terms.alerts.confirm(due);
    for (const condition of due) this.#confirmedMs.set(condition, nowMs);
  }

  async #lookAtDisk(): Promise<void> {
    const { settings, diskFreeBytes, machine, alerts } = this.#terms;
    if (settings.diskFreeBytes === null) return;
    const freeBytes = await diskFreeBytes();
    if (freeBytes === null) return;
    const checked = checkDisk(freeBytes, settings.diskFreeBytes, machine);
    await alerts.update(checked, LIMITS.alertQuietMs);
    await this.#confirm(checked.findings);
  }

  /** Those at the end of an hour may be looked at only after it, so the hour in which they were noted counts too. */
  async #lookAtLosses(): Promise<void> {
    const { clock, settings } = this.#terms;
    const [fromMs, above] = [this.#lossesFromMs, settings.lossesPerHourNanousd];
    if (above === null || fromMs === null || clock.monotonicMs() < this.#lossesAfterMs) return;
    this.#lossesFromMs = null;
    this.#lossesAfterMs = clock.monotonicMs() + LIMITS.alertLossesMs;
    try {
      for (const hourMs of lossHours(fromMs, clock.nowMs())) await this.#lookAtHour(hourMs, above);
    } catch (error) {
      this.#lossesFromMs = fromMs;
      throw error;
    }
  }

  async #lookAtHour(hourMs: number, above: bigint): Promise<void> {
    const { store, alerts, clock } = this.#terms;
    const rest = () => pause(clock, LIMITS.alertLossPauseMs);
    const checked = await checkLosses(store.directory, above, hourMs, rest);
    await alerts.update(checked, LIMITS.alertLossesQuietMs);
  }

  /** Resolves open alerts whose condition is gone, a page at a time. */
  async #recheck(): Promise<void> {
    const { store, alerts } = this.#terms;
    const open = await store.directory.openAlerts({ after: this.#recheckedUpTo, limit: LIMITS.alertRoundRows });
    this.#recheckedUpTo = open.length < LIMITS.alertRoundRows ? null : open.at(-1)!.id;
    for (const alert of open) if (!(await this.#stillHolds(alert))) await alerts.resolve(alert.condition);
  }

  async #stillHolds(alert: Alert): Promise<boolean> {
    const { store, clock } = this.#terms;
    const nowMs = clock.nowMs();
    if (alert.accountId === null) return this.#operationStillHolds(alert, nowMs);
    if (alert.kind === 'balance') {
      const account = await store.findAccount(alert.accountId);
      return account !== null && holds(await this.#checkAccount(account), alert);
    }
    const percent = (await this.#settingsOf(alert.accountId)).capPercent ?? 0;
    if (alert.kind === 'key_cap') {
      const key = await store.findKey(parseId(KEY_PREFIX, alert.subject) ?? 0n);
      if (key === null) return false;
      return holds(checkKeyCap(key, (await store.spendingOf([key])).get(key.id), percent, true), alert);
    }
    const personId = parseId(PERSON_PREFIX, alert.subject) ?? 0n;
    const member = await store.directory.findMember(alert.accountId, personId, nowMs);
    return member !== null && holds(checkPersonCap(member, percent, true), alert);
  }

  /** Alerts about hosts and disks outlive the process that raised them. Others may resolve those that no process confirms. */
  #operationStillHolds({ kind, condition, subject, seenMs }: Alert, nowMs: number): boolean {
    if (kind === 'losses') return !isPastHour(condition, nowMs);
    if (seenMs > nowMs - LIMITS.alertOrphanMs) return true;
    if (kind === 'disk') return subject === this.#terms.machine && this.#terms.settings.diskFreeBytes !== null;
    return (
      kind !== 'host' || checkHosts(this.#terms.hosts()).findings.some((finding) => finding.condition === condition)
    );
  }

  async #sweepOn(): Promise<void> {
    if (this.#changed.takeOverfull()) this.#sweep.restart();
    const page = await this.#sweep.next();
    if (page === null) return;
    if ('accounts' in page) await this.#lookAtAccounts(page.accounts);
    else await this.#lookAtKeys(page.keys.map((key: KeyRow) => ({ key, refusedCaps: [] })));
    if (!page.isLast) return;
    const { store, clock } = this.#terms;
    await store.directory.forgetAlerts(clock.nowMs() - LIMITS.alertKeptMs);
  }
}

function together(checked: readonly Checked[]): Checked {
  return {
    findings: checked.flatMap(({ findings }) => findings),
    cleared: checked.flatMap(({ cleared }) => cleared),
  };
}

function holds({ findings }: Checked, { condition }: Alert): boolean {
  return findings.some((finding) => finding.condition === condition);
}
