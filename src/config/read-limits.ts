import { LIMITS } from '../limits.ts';
import type { ConfigFile } from './schema.ts';

export interface ConfigLimits {
  readonly firstFrameMs: number;
  readonly idleMs: number;
  readonly bufferedMs: number;
  readonly streamMs: number;
  readonly keepAliveMs: number;
  readonly stallMs: number;
  readonly drainMs: number;
  readonly shutdownMs: number;
  /** Calls are still taken for this long after the signal to stop, while `/readyz` is 503. */
  readonly shutdownNoticeMs: number;
  readonly requestHeadMs: number;
  readonly requestMs: number;
  /** Concurrent calls to one host. */
  readonly callsPerHost: number;
  readonly countAboveNanousd: number;
  /** What hanging up before any content may cost per account and hour; null is no limit. */
  readonly hangupAllowanceNanousd: number | null;
}

export function readLimits(limits: ConfigFile['limits'], hosted: boolean): ConfigLimits {
  return {
    firstFrameMs: limits.first_frame_ms,
    idleMs: limits.idle_ms,
    bufferedMs: limits.buffered_ms,
    streamMs: limits.stream_ms,
    keepAliveMs: limits.keep_alive_ms,
    stallMs: limits.stall_ms,
    drainMs: limits.drain_ms,
    shutdownMs: limits.shutdown_ms,
    shutdownNoticeMs: limits.shutdown_notice_ms ?? (hosted ? LIMITS.shutdownNoticeMs : 0),
    requestHeadMs: limits.request_head_ms,
    requestMs: limits.request_ms,
    callsPerHost: limits.calls_per_host,
    countAboveNanousd: limits.count_above_nanousd,
    hangupAllowanceNanousd: limits.hangup_allowance_nanousd,
  };
}
