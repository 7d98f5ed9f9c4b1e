import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../accounts/authenticate.ts';
import type { Wire } from '../wires/wire.ts';
import type { CallTrace } from './call-trace.ts';

/** One request from the HTTP layer: authenticated and bounded in size, but not parsed. */
export interface Call {
  readonly id: bigint;
  readonly requestId: string;
  readonly route: string;
  readonly wire: Wire;
  /** The model that the path names, still escaped; null or absent on most paths. */
  readonly pathModel?: string | null;
  readonly caller: Caller;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly startedMs: number;
  /** Absent or null if calls are not traced. */
  readonly trace?: CallTrace | null;
  /** Absent or null for a call that is made at once. */
  readonly deferred?: Deferred | null;
}

/** What was decided when a deferred call was accepted. */
export interface Deferred {
  /** The model that its name stood for, by id; null if it was the caller's own deployment. */
  readonly modelId: string | null;
  /** The worst case that was reserved. The call costs no more, even if its prompt would be counted higher now. */
  readonly reservedNanousd: bigint;
}
