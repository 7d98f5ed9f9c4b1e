import type { Environment } from '../hosts/read-key.ts';
import { Secret } from '../kit/secret.ts';
import { LIMITS } from '../limits.ts';
import type { ConfigProblem } from './problems.ts';

/** Where traces are sent and which calls are traced, as the standard `OTEL_*` variables say. */
export interface ConfigTracing {
  /** The full URL that spans are posted to. */
  readonly url: string;
  /** For example the collector's credentials. */
  readonly headers: Readonly<Record<string, Secret>>;
  readonly timeoutMs: number;
  readonly compression: 'gzip' | 'none';
  readonly sampling: Sampling;
  readonly serviceName: string;
  readonly resourceAttributes: Readonly<Record<string, string>>;
  readonly batch: { readonly delayMs: number; readonly spansMax: number; readonly queueMax: number };
}

export interface Sampling {
  /** The part of calls that is traced, 0 to 1. */
  readonly ratio: number;
  /** Whether the caller's own decision comes first, if it sent one. */
  readonly followsCaller: boolean;
}

const DEFAULT_COLLECTOR = 'http://localhost:4318';
const PREFIX = 'OTEL_EXPORTER_OTLP_';

/** Null if tracing is off, which it is unless a collector is named. */
export function readTracing(env: Environment, problems: ConfigProblem[]): ConfigTracing | null {
  const reader = new VariableReader(env, problems);
  if (!isOn(reader)) return null;
  refuseOtherProtocols(reader);
  return {
    url: collectorUrl(reader),
    headers: readHeaders(reader),
    timeoutMs: reader.count(reader.firstSet(`${PREFIX}TRACES_TIMEOUT`, `${PREFIX}TIMEOUT`), LIMITS.traceSendMs),
    compression: reader.oneOf(reader.firstSet(`${PREFIX}TRACES_COMPRESSION`, `${PREFIX}COMPRESSION`), COMPRESSIONS),
    sampling: readSampling(reader),
    serviceName: env.OTEL_SERVICE_NAME || 'tollgate',
    resourceAttributes: readPairs(reader, 'OTEL_RESOURCE_ATTRIBUTES'),
    batch: {
      delayMs: reader.count('OTEL_BSP_SCHEDULE_DELAY', LIMITS.traceDelayMs),
      spansMax: reader.count('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', LIMITS.traceBatchSpans),
      queueMax: reader.count('OTEL_BSP_MAX_QUEUE_SIZE', LIMITS.traceQueueSpans),
    },
  };
}

const COMPRESSIONS = ['none', 'gzip'] as const;
const EXPORTERS = ['otlp', 'none'] as const;

/** As elsewhere, `OTEL_SDK_DISABLED` and an exporter of `none` win over an address. */
function isOn(reader: VariableReader): boolean {
  const { env } = reader;
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return false;
  const exporter = env.OTEL_TRACES_EXPORTER ? reader.oneOf('OTEL_TRACES_EXPORTER', EXPORTERS) : null;
  const isAddressed = Boolean(env[`${PREFIX}TRACES_ENDPOINT`] || env[`${PREFIX}ENDPOINT`]);
  return exporter === 'otlp' || (exporter === null && isAddressed);
}

function refuseOtherProtocols(reader: VariableReader): void {
  const name = reader.firstSet(`${PREFIX}TRACES_PROTOCOL`, `${PREFIX}PROTOCOL`);
  const protocol = reader.env[name];
  if (!protocol || protocol === 'http/json' || protocol === 'http/protobuf') return;
  reader.refuse(
    name,
    'must be "http/json": spans are sent over HTTP. Name the HTTP port of your collector, usually 4318',
  );
}

function collectorUrl(reader: VariableReader): string {
  const own = reader.env[`${PREFIX}TRACES_ENDPOINT`];
  const name = own ? `${PREFIX}TRACES_ENDPOINT` : `${PREFIX}ENDPOINT`;
  const url = URL.parse(own || reader.env[`${PREFIX}ENDPOINT`] || DEFAULT_COLLECTOR);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    reader.refuse(name, `must be an http or https URL, such as "${DEFAULT_COLLECTOR}"`);
    return DEFAULT_COLLECTOR;
  }
  // The general variable names the collector, the specific one the path too.
  if (!own) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return url.href;
}

const SAMPLERS: Readonly<Record<string, { readonly ratio: number | null; readonly followsCaller: boolean }>> = {
  always_on: { ratio: 1, followsCaller: false },
  always_off: { ratio: 0, followsCaller: false },
  traceidratio: { ratio: null, followsCaller: false },
  parentbased_always_on: { ratio: 1, followsCaller: true },
  parentbased_always_off: { ratio: 0, followsCaller: true },
  parentbased_traceidratio: { ratio: null, followsCaller: true },
};

function readSampling(reader: VariableReader): Sampling {
  const name = reader.env.OTEL_TRACES_SAMPLER || 'parentbased_always_on';
  const sampler = Object.hasOwn(SAMPLERS, name) ? SAMPLERS[name]! : null;
  if (sampler === null) {
    reader.refuse('OTEL_TRACES_SAMPLER', `must be one of ${Object.keys(SAMPLERS).join(', ')}`);
    return { ratio: 0, followsCaller: false };
  }
  return { ...sampler, ratio: sampler.ratio ?? readRatio(reader) };
}

function readRatio(reader: VariableReader): number {
  const text = reader.env.OTEL_TRACES_SAMPLER_ARG;
  const ratio = text ? Number(text) : 1;
  if (ratio >= 0 && ratio <= 1) return ratio;
  reader.refuse('OTEL_TRACES_SAMPLER_ARG', 'must be a number from 0 to 1: the share of calls that is traced');
  return 0;
}

function readHeaders(reader: VariableReader): Record<string, Secret> {
  const pairs = readPairs(reader, reader.firstSet(`${PREFIX}TRACES_HEADERS`, `${PREFIX}HEADERS`));
  return Object.fromEntries(Object.entries(pairs).map(([name, value]) => [name, new Secret(value)]));
}

/** Pairs like `key=value,other=value`, percent-encoded where needed. */
function readPairs(reader: VariableReader, name: string): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (const part of (reader.env[name] ?? '').split(',').filter((text) => text.trim() !== '')) {
    const at = part.indexOf('=');
    const value = at < 1 ? null : unescaped(part.slice(at + 1).trim());
    if (value === null) reader.refuse(name, 'must be pairs like "key=value,other=value", with % escapes where needed');
    else pairs[part.slice(0, at).trim()] = value;
  }
  return pairs;
}

function unescaped(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Values are not repeated in problems: they may be secrets. */
class VariableReader {
  readonly env: Environment;
  readonly #problems: ConfigProblem[];

  constructor(env: Environment, problems: ConfigProblem[]) {
    this.env = env;
    this.#problems = problems;
  }

  /** The first of these variables that is set, else the last. */
  firstSet(specific: string, general: string): string {
    return this.env[specific] ? specific : general;
  }

  count(name: string, otherwise: number): number {
    const text = this.env[name];
    if (!text) return otherwise;
    const count = Number(text);
    if (Number.isInteger(count) && count > 0) return count;
    this.refuse(name, 'must be a whole number above 0');
    return otherwise;
  }

  oneOf<Word extends string>(name: string, words: readonly [Word, ...Word[]]): Word {
    const text = this.env[name];
    const word = words.find((known) => known === text);
    if (word === undefined && text) this.refuse(name, `must be one of ${words.join(', ')}`);
    return word ?? words[0];
  }

  refuse(name: string, message: string): void {
    this.#problems.push({ source: name, path: '', message });
  }
}
