import { ChangedPayers, type Payers } from '../../alerts/changed-payers.ts';
import type { ExchangeRecord } from '../../gateway/exchange-record.ts';
import type { Clock, Timer } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';

/** Tells the first worker, now and then, who paid for calls: only that one looks for reasons to alert somebody. */
export class PayerRelay {
  readonly #clock: Clock;
  readonly #send: (payers: Payers) => void;
  readonly #changed = new ChangedPayers();
  #hasLosses = false;
  #timer: Timer | null = null;

  constructor(clock: Clock, send: (payers: Payers) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** Accounts and keys that the first worker has yet to be told of. */
  get waiting(): number {
    return this.#changed.size;
  }

  note({ caller, costNanousd, lossNanousd, refusedCap }: ExchangeRecord): void {
    if (costNanousd > 0n || refusedCap !== null) this.#changed.note(caller, refusedCap);
    if (lossNanousd > 0n) this.#hasLosses = true;
    this.#timer ??= this.#clock.after(LIMITS.workerPayersMs, () => this.flush(), { unref: true });
  }

  flush(): void {
    this.#timer?.cancel();
    this.#timer = null;
    const accounts = this.#changed.takeAccounts(LIMITS.alertChangesMax);
    const keys = this.#changed.takeKeys(LIMITS.alertChangesMax);
    if (accounts.length > 0 || keys.length > 0 || this.#hasLosses)
      this.#send({ accounts, keys, hasLosses: this.#hasLosses });
    this.#hasLosses = false;
  }
}
