import type { IncomingHttpHeaders } from 'node:http';
import type { ReadableSpan, SpanExporter, SpanProcessor } from '@opentelemetry/sdk-trace';
import { packageVersion } from '../cli/version.ts';
import type { Config } from '../config/config.ts';
import type { ConfigTracing, Sampling } from '../config/tracing.ts';
import { CallTrace, type CallTracing, newTraceId, readTraceparent, readTracestate } from '../gateway/call-trace.ts';
import type { ExchangeRecord } from '../gateway/exchange-record.ts';
import { type CallSpan, type SpanKind, spansOf } from '../http/spans.ts';
import type { Clock } from '../kit/clock.ts';
import type { Log } from '../kit/log.ts';
import { LIMITS } from '../limits.ts';

interface TracingTerms {
  readonly config: ConfigTracing;
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Null if calls are not traced. */
export async function openTracing(terms: { config: Config; clock: Clock; log: Log }): Promise<Tracing | null> {
  const { tracing } = terms.config;
  if (tracing === null) return null;
  return Tracing.open({ clock: terms.clock, log: terms.log, config: tracing, version: packageVersion() });
}

/** Sends the spans of finished calls to a collector, in batches, behind the calls. */
export class Tracing implements CallTracing {
  /** Spans that were not sent: the collector failed, or it was slower than the calls. */
  dropped = 0;
  readonly #terms: TracingTerms;
  readonly #processor: SpanProcessor;
  readonly #shared: Pick<ReadableSpan, 'resource' | 'instrumentationScope'>;
  readonly #waiting: { spans: number };

  private constructor(terms: TracingTerms, parts: TracingParts) {
    this.#terms = terms;
    this.#waiting = parts.waiting;
    this.#processor = parts.processor;
    this.#shared = parts.shared;
  }

  /** Loads the libraries, which a gateway without traces does not pay for. */
  static async open(terms: TracingTerms): Promise<Tracing> {
    const waiting = { spans: 0 };
    const exporter = await openExporter(terms.config);
    let tracing: Tracing | null = null;
    const counting = countingExporter(exporter, (spans, failed) => {
      waiting.spans -= spans;
      if (failed) tracing!.#lost(spans);
    });
    tracing = new Tracing(terms, { waiting, ...(await openProcessor(terms, counting)) });
    return tracing;
  }

  /** Spans that wait to be sent. */
  get waiting(): number {
    return this.#waiting.spans;
  }

  get waitingMax(): number {
    return this.#terms.config.batch.queueMax;
  }

  begin(headers: IncomingHttpHeaders): CallTrace {
    const parent = readTraceparent(headers.traceparent as string | undefined);
    const traceId = parent?.traceId ?? newTraceId();
    const isSampled = decide(this.#terms.config.sampling, traceId, parent?.isSampled ?? null);
    return new CallTrace({ traceId, parent, state: readTracestate(headers.tracestate, parent), isSampled });
  }

  report(record: ExchangeRecord): void {
    const { trace } = record;
    if (trace === null || !trace.isSampled) return;
    const startMs = this.#terms.clock.nowMs() - record.totalMs;
    for (const span of spansOf(record, trace)) this.#send(span, trace, startMs);
  }

  /** Sends what is waiting, unless the collector takes too long: a stop does not wait for it. */
  async close(): Promise<void> {
    const { clock, log } = this.#terms;
    const sent = this.#processor.shutdown().catch(() => undefined);
    const late = Promise.withResolvers<void>();
    const timer = clock.after(LIMITS.traceLastSendMs, () => {
      log.warn({ spans: this.waiting }, 'The last spans are dropped: the trace collector does not answer.');
      late.resolve();
    });
    await Promise.race([sent, late.promise]);
    timer.cancel();
  }

  #send(span: CallSpan, trace: CallTrace, startMs: number): void {
    if (this.#waiting.spans >= this.#terms.config.batch.queueMax) {
      this.#lost(1);
      return;
    }
    this.#waiting.spans++;
    this.#processor.onEnd(readable(span, trace, startMs, this.#shared));
  }

  /** Logs the first loss only: `dropped` counts the others. */
  #lost(spans: number): void {
    if (this.dropped === 0)
      this.#terms.log.warn(
        { url: withoutCredentials(this.#terms.config.url) },
        'Spans are dropped: the trace collector does not accept them. From now on they are only counted.',
      );
    this.dropped += spans;
  }
}

interface TracingParts {
  readonly waiting: { spans: number };
  readonly processor: SpanProcessor;
  readonly shared: Pick<ReadableSpan, 'resource' | 'instrumentationScope'>;
}

async function openExporter({ url, headers, timeoutMs, compression }: ConfigTracing): Promise<SpanExporter> {
  const [{ OTLPTraceExporter }, { CompressionAlgorithm }] = await Promise.all([
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/otlp-exporter-base'),
  ]);
  return new OTLPTraceExporter({
    url,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.reveal()])),
    timeoutMillis: timeoutMs,
    compression: compression === 'gzip' ? CompressionAlgorithm.GZIP : CompressionAlgorithm.NONE,
  });
}

async function openProcessor({ config, version }: TracingTerms, exporter: SpanExporter) {
  const [{ BatchSpanProcessor }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
  ]);
  const { delayMs, spansMax, queueMax } = config.batch;
  const processor = new BatchSpanProcessor({
    exporter,
    scheduledDelayMillis: delayMs,
    maxExportBatchSize: Math.min(spansMax, queueMax),
    maxQueueSize: queueMax,
    exportTimeoutMillis: config.timeoutMs,
  });
  const names = { 'service.name': config.serviceName, 'service.version': version };
  const resource = resourceFromAttributes({ ...config.resourceAttributes, ...names });
  return { processor, shared: { resource, instrumentationScope: { name: 'tollgate', version } } };
}

/** The libraries drop spans without a word, so successes and failures are counted on their way. */
function countingExporter(exporter: SpanExporter, onDone: (spans: number, failed: boolean) => void): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        onDone(spans.length, result.code !== 0);
        done(result);
      }),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

/** The last 56 bits of a trace id are random, so that every service of a trace decides alike. */
const RANDOM_DIGITS = 14;

function decide({ ratio, followsCaller }: Sampling, traceId: string, byCaller: boolean | null): boolean {
  if (followsCaller && byCaller !== null) return byCaller;
  return Number.parseInt(traceId.slice(-RANDOM_DIGITS), 16) < ratio * 16 ** RANDOM_DIGITS;
}

const KINDS: Readonly<Record<SpanKind, ReadableSpan['kind']>> = { internal: 0, server: 1, client: 2 };

function readable(
  { name, kind, spanId, parentSpanId, fromMs, toMs, attributes, error }: CallSpan,
  trace: CallTrace,
  startMs: number,
  shared: Pick<ReadableSpan, 'resource' | 'instrumentationScope'>,
): ReadableSpan {
  const context = (id: string, isRemote = false) => ({ traceId: trace.traceId, spanId: id, traceFlags: 1, isRemote });
  const own = context(spanId ?? newTraceId().slice(0, 16));
  const isRemote = kind === 'server';
  return {
    ...shared,
    name,
    kind: KINDS[kind],
    spanContext: () => own,
    ...(parentSpanId !== null && { parentSpanContext: context(parentSpanId, isRemote) }),
    startTime: hrTime(startMs + fromMs),
    endTime: hrTime(startMs + Math.max(fromMs, toMs)),
    duration: hrTime(Math.max(0, toMs - fromMs)),
    status: error === null ? { code: 0 } : { code: 2, message: error },
    attributes: { ...attributes },
    links: [],
    events: [],
    ended: true,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** Seconds and nanoseconds. */
function hrTime(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

function withoutCredentials(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
