import { Counter, type Registry } from 'prom-client';

const OUTCOMES = ['delivered', 'retried', 'given_up'] as const;

/** Alerts, deliveries to webhooks, and receipts that were not signed because they were changed. */
export class NoticeMetrics {
  readonly #alerts: Counter<'kind'>;
  readonly #deliveries: Counter<'outcome'>;
  readonly #mismatches: Counter;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#alerts = new Counter({
      name: 'tollgate_alerts_total',
      help: 'Alerts that this process raised.',
      labelNames: ['kind'],
      registers,
    });
    this.#deliveries = new Counter({
      name: 'tollgate_webhook_deliveries_total',
      help: 'Attempts of this process to deliver to a webhook.',
      labelNames: ['outcome'],
      registers,
    });
    for (const outcome of OUTCOMES) this.#deliveries.inc({ outcome }, 0);
    this.#mismatches = new Counter({
      name: 'tollgate_receipt_mismatches_total',
      help: 'Signatures that this process refused because a closed receipt was changed in the ledger.',
      registers,
    });
  }

  alertRaised(kind: string): void {
    this.#alerts.inc({ kind });
  }

  receiptMismatch(): void {
    this.#mismatches.inc();
  }

  webhookAttempt(outcome: (typeof OUTCOMES)[number]): void {
    this.#deliveries.inc({ outcome });
  }
}
