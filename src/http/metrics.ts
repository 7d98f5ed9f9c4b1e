import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { LOSS_REASONS } from '../canonical/loss-reasons.ts';
import type { ExchangeRecord } from '../gateway/exchange-record.ts';
import { LIMITS } from '../limits.ts';
import { type BookSources, gaugeBooks } from './book-metrics.ts';
import { gaugeCaches, type ReadCaches } from './cache-metrics.ts';
import { HostMetrics, type HostReading } from './host-metrics.ts';
import { gaugeJobs, JobMetrics, type JobSources } from './job-metrics.ts';
import { NoticeMetrics } from './notice-metrics.ts';
import { PayerMetrics, type PayerSeries } from './payer-metrics.ts';
import { CounterTally, HistogramTally } from './tally.ts';

/** What the gauges read when they are scraped. */
export interface MetricSources {
  callsUnderWay(): number;
  ledgerDepth(): number;
  hostConnections(): number;
  clientConnections(): number;
  clientConnectionsClosed(): number;
  bodyBytes(): number;
  timerErrors(): number;
  eventLoopLagMs(): number;
  hosts(): readonly HostReading[];
  logLinesDropped(): number;
  readonly books: BookSources;
  readonly jobs: JobSources;
  readonly payers: PayerSeries;
  spansDropped(): number;
  /** What this worker caches, and the first one for all of them. */
  readonly caches: ReadCaches;
  /** The metrics of the other workers, which are added; absent if there are none. */
  otherWorkers?(): Promise<readonly MetricsPart[]>;
}

/** The metrics of one worker, as plain data. */
export type MetricsPart = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

interface MetricsTerms {
  /** Whether they include the metrics of the process and of the store; those of other workers are added to them. */
  readonly isFirstWorker?: boolean;
}

const CALL_SECONDS = [0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300];
const HOLD_SECONDS = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.2, 1];

/** The counters of one model, found with one look-up. */
type ModelCounts = Record<'cost' | 'fresh' | 'cacheRead' | 'cacheWrite' | 'output', { count: number }>;

const OTHER_MODELS = 'other';

/**
 * Prometheus metrics. Labels are bounded sets, never text from a caller. Counters of rare events begin at zero: Prometheus takes
 * no increase from a series that begins with its first event, so no alert would see that one.
 */
export class Metrics {
  readonly hosts: HostMetrics;
  readonly notices: NoticeMetrics;
  readonly jobs: JobMetrics;
  readonly #registry = new Registry();
  readonly #otherWorkers: MetricSources['otherWorkers'];
  readonly #calls: CounterTally;
  readonly #cost: CounterTally;
  readonly #loss: CounterTally;
  readonly #tokens: CounterTally;
  readonly #byModel = new Map<string, ModelCounts>();
  readonly #duration: HistogramTally;
  readonly #hold: HistogramTally;
  readonly #turnedAway: Counter<'reason'>;
  readonly #refusals: CounterTally;
  readonly #payers: PayerMetrics;
  readonly #signIns: Counter<'outcome'>;

  constructor(sources: MetricSources, { isFirstWorker = true }: MetricsTerms = {}) {
    const registers = [this.#registry];
    this.#otherWorkers = sources.otherWorkers;
    if (isFirstWorker) this.#gaugeStore(sources);
    this.hosts = new HostMetrics(this.#registry, sources.hosts);
    const counter = (name: string, help: string, ...labelNames: string[]) =>
      new CounterTally({ name, help, labelNames, registry: this.#registry });
    const histogram = (name: string, help: string, bounds: readonly number[], ...labelNames: string[]) =>
      new HistogramTally({ name, help, labelNames, registry: this.#registry }, bounds);
    this.#calls = counter(
      'tollgate_calls_total',
      'Calls by route, HTTP status and how they ended.',
      'route',
      'status',
      'ended',
    );
    this.#cost = counter('tollgate_cost_nanousd_total', 'Charged, in nanodollars.', 'model');
    this.#loss = counter(
      'tollgate_loss_nanousd_total',
      'What hosts may bill beyond what was charged, at most, in nanodollars.',
      'reason',
    );
    for (const reason of LOSS_REASONS) this.#loss.at(reason);
    this.#tokens = counter('tollgate_tokens_total', 'Billed tokens.', 'model', 'kind');
    this.#duration = histogram('tollgate_call_seconds', 'Duration of calls.', CALL_SECONDS, 'route', 'stream');
    this.#hold = histogram('tollgate_hold_seconds', 'Time until the hold was durable.', HOLD_SECONDS);
    this.#refusals = counter(
      'tollgate_refusals_total',
      'Calls refused before anything was held, by error code.',
      'code',
    );
    this.#payers = new PayerMetrics(this.#registry, sources.payers);
    this.notices = new NoticeMetrics(this.#registry);
    this.jobs = new JobMetrics(this.#registry);
    this.#turnedAway = new Counter({
      name: 'tollgate_turned_away_total',
      help: 'Requests refused because their key, or everyone together, asked for too much.',
      labelNames: ['reason'],
      registers,
    });
    this.#signIns = new Counter({
      name: 'tollgate_sign_ins_total',
      help: 'Sign-ins of people, by outcome.',
      labelNames: ['outcome'],
      registers,
    });
    this.#gaugeProcess(sources);
    gaugeCaches(this.#registry, sources.caches);
  }

  /** Models that have series of their own. */
  get models(): number {
    return this.#byModel.size;
  }

  /** What exists once in a process. */
  #gaugeStore({ books, jobs }: MetricSources): void {
    collectDefaultMetrics({ register: this.#registry });
    gaugeBooks(this.#registry, books);
    gaugeJobs(this.#registry, jobs);
  }

  #gaugeProcess(sources: MetricSources): void {
    this.#counterOf(
      'tollgate_log_lines_dropped_total',
      'Log lines dropped because they could not be written.',
      sources.logLinesDropped,
    );
    this.#counterOf(
      'tollgate_trace_spans_dropped_total',
      'Spans that the trace collector did not accept.',
      sources.spansDropped,
    );
    this.#counterOf(
      'tollgate_client_connections_closed_total',
      'Connections of callers closed because there were too many.',
      sources.clientConnectionsClosed,
    );
    this.#counterOf('tollgate_timer_errors_total', 'Unexpected errors in timers.', sources.timerErrors);
    this.#gauge(
      'tollgate_client_connections',
      "Open connections on the callers' port and on that of the management API.",
      sources.clientConnections,
    );
    this.#gauge('tollgate_request_body_bytes', 'Bytes of request bodies in memory.', sources.bodyBytes);
    this.#gauge('tollgate_calls_under_way', 'Calls that have not ended.', sources.callsUnderWay);
    this.#gauge('tollgate_ledger_queue', 'Ledger operations waiting.', sources.ledgerDepth);
    this.#gauge('tollgate_host_connections', 'Open connections to hosts.', sources.hostConnections);
    this.#gauge(
      'tollgate_event_loop_lag_seconds',
      'Delay of the event loop.',
      () => sources.eventLoopLagMs() / 1000,
      'max',
    );
  }

  observe(record: ExchangeRecord): void {
    const { route, usage } = record;
    const model = record.deploymentOf ?? record.effectiveModel;
    this.hosts.observe(record);
    this.#payers.observe(record);
    if (record.ended === 'refused' && record.errorCode !== null) this.#refusals.add(1, record.errorCode);
    this.#calls.add(1, route, String(record.status), record.ended);
    this.#duration.observe(record.totalMs / 1000, route, String(record.stream));
    if (record.heldAfterMs !== null) this.#hold.observe(record.heldAfterMs / 1000);
    if (record.lossReason !== null) this.#loss.add(Number(record.lossNanousd), record.lossReason);
    if (model === null || usage === null) return;
    const counts = this.#byModel.get(model) ?? this.#countsOf(model);
    counts.cost.count += Number(record.costNanousd);
    counts.fresh.count += usage.freshTokens;
    counts.cacheRead.count += usage.cacheReadTokens;
    counts.cacheWrite.count += usage.cacheWriteTokens + usage.cacheWrite1hTokens;
    counts.output.count += usage.outputTokens;
  }

  /** Each reload may bring other models, so there is a limit, beyond which they are counted together. */
  #countsOf(model: string): ModelCounts {
    const isNamed = this.#byModel.size < LIMITS.modelSeriesMax;
    const label = isNamed ? model : OTHER_MODELS;
    const counts = {
      cost: this.#cost.at(label),
      fresh: this.#tokens.at(label, 'fresh'),
      cacheRead: this.#tokens.at(label, 'cache_read'),
      cacheWrite: this.#tokens.at(label, 'cache_write'),
      output: this.#tokens.at(label, 'output'),
    };
    if (isNamed) this.#byModel.set(model, counts);
    return counts;
  }

  turnedAway(reason: string): void {
    this.#turnedAway.inc({ reason });
  }

  signIn(outcome: string): void {
    this.#signIns.inc({ outcome });
  }

  /** All metrics in Prometheus' text format, with those of the other workers. */
  async text(): Promise<string> {
    const others = (await this.#otherWorkers?.()) ?? [];
    if (others.length === 0) return this.#registry.metrics();
    return AggregatorRegistry.aggregate([kept(await this.part()), ...others] as never).metrics();
  }

  /** The metrics of this worker. */
  part(): Promise<MetricsPart> {
    return this.#registry.getMetricsAsJSON();
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  #counterOf(name: string, help: string, read: () => number): void {
    new Counter({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  #gauge(name: string, help: string, read: () => number, aggregator: 'sum' | 'max' = 'sum'): void {
    new Gauge({
      name,
      help,
      aggregator,
      registers: [this.#registry],
      collect() {
        this.set(read());
      },
    });
  }
}

/** prom-client leaves out some metrics of the process when it adds workers; one worker alone has them, so they are kept. */
function kept(part: MetricsPart): MetricsPart {
  return part.map((metric) => (metric.aggregator === 'omit' ? { ...metric, aggregator: 'first' } : metric));
}
