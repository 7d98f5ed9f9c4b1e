import { Counter, type Registry } from 'prom-client';

/** Alerts, and deliveries to webhooks. */
export class NoticeMetrics {
  readonly #alerts: Counter<'kind'>;
  readonly #deliveries: Counter<'outcome'>;

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
  }

  alertRaised(kind: string): void {
    this.#alerts.inc({ kind });
  }

  webhookAttempt(outcome: 'delivered' | 'retried' | 'given_up'): void {
    this.#deliveries.inc({ outcome });
  }
}
