import type { CacheMark } from '../../canonical/request.ts';
import { isObject, isText, type Members } from './members.ts';

/** Reads `{type:"ephemeral", ttl?}`; the result is spread into a block. */
export function readCacheMark(control: unknown): { cache?: CacheMark } {
  if (!isObject(control)) return {};
  return { cache: { lifetime: control.ttl === '1h' || control.ttl === '5m' ? control.ttl : null } };
}

/** The mark of a message, a part or a tool of the chat wire, under the name of either vendor. */
export function readOwnMark({ cache_control: control, prompt_cache_breakpoint: point }: Members): {
  cache?: CacheMark;
} {
  return readCacheMark(isObject(control) ? control : point);
}

/** Two wires have this field, under one name; on the others a lifetime is only a hint. */
export function readCacheRetention({ prompt_cache_retention: retention }: Members): { cacheRetention?: string } {
  return isText(retention) ? { cacheRetention: retention } : {};
}

export function writeCacheMark(cache: CacheMark | undefined): { cache_control?: Record<string, string> } {
  if (cache === undefined) return {};
  return { cache_control: { type: 'ephemeral', ...(cache.lifetime === null ? {} : { ttl: cache.lifetime }) } };
}
