import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { LIMITS } from '../limits.ts';

/** Decides which calls are traced. */
export interface CallTracing {
  begin(headers: IncomingHttpHeaders): CallTrace;
}

/** One attempt at a host. */
export interface HostSpan {
  readonly host: string;
  readonly spanId: string;
  readonly startedMs: number;
  endedMs: number | null;
  outcome: string | null;
}

/** The caller's trace, as its `traceparent` header names it. */
interface ParentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** The ids and times of one call, collected while it runs. Times are those of the monotonic clock. */
export class CallTrace {
  readonly traceId: string;
  readonly spanId = newSpanId();
  readonly parentSpanId: string | null;
  /** Of other systems; passed on unchanged. */
  readonly state: string | null;
  readonly isSampled: boolean;
  readonly hostSpans: HostSpan[] = [];
  holdStartedMs: number | null = null;

  constructor(terms: { traceId: string; parent: ParentSpan | null; state: string | null; isSampled: boolean }) {
    this.traceId = terms.traceId;
    this.parentSpanId = terms.parent?.spanId ?? null;
    this.state = terms.state;
    this.isSampled = terms.isSampled;
  }

  beginHost(host: string, startedMs: number): HostSpan {
    const span: HostSpan = { host, spanId: newSpanId(), startedMs, endedMs: null, outcome: null };
    this.hostSpans.push(span);
    return span;
  }

  /** What a host is sent, so that its own spans become children of this attempt. */
  headersFor({ spanId }: HostSpan): Record<string, string> {
    const traceparent = `00-${this.traceId}-${spanId}-${this.isSampled ? '01' : '00'}`;
    return this.state === null ? { traceparent } : { traceparent, tracestate: this.state };
  }
}

export function newTraceId(): string {
  return randomBytes(16).toString('hex');
}

function newSpanId(): string {
  return randomBytes(8).toString('hex');
}

const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Null if there is no such header or it is invalid: then the call begins a trace of its own. */
export function readTraceparent(header: string | string[] | undefined): ParentSpan | null {
  const found = typeof header === 'string' ? TRACEPARENT.exec(header) : null;
  if (found === null) return null;
  const [, version, traceId, spanId, flags, rest] = found;
  // Later versions may have more parts; this one may not.
  if (version === '00' && rest !== undefined) return null;
  return { traceId: traceId!, spanId: spanId!, isSampled: (Number.parseInt(flags!, 16) & 1) === 1 };
}

/** Used only with a valid parent; without one it has no meaning. */
export function readTracestate(header: string | string[] | undefined, parent: ParentSpan | null): string | null {
  if (parent === null || typeof header !== 'string') return null;
  return header.length <= LIMITS.traceStateCharsMax && /^[ -~\t]+$/.test(header) ? header : null;
}
