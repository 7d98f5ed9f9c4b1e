import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ExchangeRecord } from '../gateway/exchange-record.ts';
import { HostMetrics, type HostReading } from './host-metrics.ts';

/** What the gauges read at the moment they are asked. */
export interface MetricSources {
  callsUnderWay(): number;
  ledgerDepth(): number;
  hostConnections(): number;
  eventLoopLagMs(): number;
  hosts(): readonly HostReading[];
}

/** Prometheus metrics; labels are bounded sets, never a caller's text. */
export class Metrics {
  readonly hosts: HostMetrics;
  readonly #registry = new Registry();
  readonly #calls: Counter<'route' | 'status' | 'ended'>;
  readonly #cost: Counter<'model'>;
  readonly #loss: Counter<'reason'>;
  readonly #tokens: Counter<'model' | 'kind'>;
  readonly #duration: Histogram<'route' | 'stream'>;
  readonly #hold: Histogram;
  readonly #turnedAway: Counter<'reason'>;

  constructor(sources: MetricSources) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    this.hosts = new HostMetrics(this.#registry, sources.hosts);
    this.#calls = new Counter({
      name: 'tollgate_calls_total',
      help: 'Calls by route, HTTP status and how they ended.',
      labelNames: ['route', 'status', 'ended'],
      registers,
    });
    this.#cost = new Counter({
      name: 'tollgate_cost_nanousd_total',
      help: 'Charged, in nanodollars.',
      labelNames: ['model'],
      registers,
    });
    this.#loss = new Counter({
      name: 'tollgate_loss_nanousd_total',
      help: 'What hosts may bill beyond what was charged, at most, in nanodollars.',
      labelNames: ['reason'],
      registers,
    });
    this.#tokens = new Counter({
      name: 'tollgate_tokens_total',
      help: 'Billed tokens.',
      labelNames: ['model', 'kind'],
      registers,
    });
    this.#duration = new Histogram({
      name: 'tollgate_call_seconds',
      help: 'Duration of calls.',
      labelNames: ['route', 'stream'],
      buckets: [0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300],
      registers,
    });
    this.#hold = new Histogram({
      name: 'tollgate_hold_seconds',
      help: 'Time until the hold was durable.',
      buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.2, 1],
      registers,
    });
    this.#turnedAway = new Counter({
      name: 'tollgate_turned_away_total',
      help: 'Requests refused because their key, or everyone together, asked for too much.',
      labelNames: ['reason'],
      registers,
    });
    this.#gauge('tollgate_calls_under_way', 'Calls that have not ended.', sources.callsUnderWay);
    this.#gauge('tollgate_ledger_queue', 'Ledger operations waiting.', sources.ledgerDepth);
    this.#gauge('tollgate_host_connections', 'Open connections to hosts.', sources.hostConnections);
    this.#gauge(
      'tollgate_event_loop_lag_seconds',
      'Lateness of the event loop.',
      () => sources.eventLoopLagMs() / 1000,
    );
  }

  observe(record: ExchangeRecord): void {
    const { route, usage } = record;
    const model = record.deploymentOf ?? record.effectiveModel;
    this.hosts.observe(record);
    this.#calls.inc({ route, status: String(record.status), ended: record.ended });
    this.#duration.observe({ route, stream: String(record.stream) }, record.totalMs / 1000);
    if (record.heldAfterMs !== null) this.#hold.observe(record.heldAfterMs / 1000);
    if (record.lossReason !== null) this.#loss.inc({ reason: record.lossReason }, Number(record.lossNanousd));
    if (model === null || usage === null) return;
    this.#cost.inc({ model }, Number(record.costNanousd));
    this.#tokens.inc({ model, kind: 'fresh' }, usage.freshTokens);
    this.#tokens.inc({ model, kind: 'cache_read' }, usage.cacheReadTokens);
    this.#tokens.inc({ model, kind: 'cache_write' }, usage.cacheWriteTokens + usage.cacheWrite1hTokens);
    this.#tokens.inc({ model, kind: 'output' }, usage.outputTokens);
  }

  turnedAway(reason: string): void {
    this.#turnedAway.inc({ reason });
  }

  /** In the text format Prometheus scrapes. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  #gauge(name: string, help: string, read: () => number): void {
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.set(read());
      },
    });
  }
}
