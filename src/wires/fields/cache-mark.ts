import type { CacheMark } from '../../canonical/request.ts';
import { isObject } from './members.ts';

/** Reads `{type:"ephemeral", ttl?}`; the result is spread into a block. */
export function readCacheMark(control: unknown): { cache?: CacheMark } {
  if (!isObject(control)) return {};
  return { cache: { lifetime: control.ttl === '1h' || control.ttl === '5m' ? control.ttl : null } };
}

export function writeCacheMark(cache: CacheMark | undefined): { cache_control?: Record<string, string> } {
  if (cache === undefined) return {};
  return { cache_control: { type: 'ephemeral', ...(cache.lifetime === null ? {} : { ttl: cache.lifetime }) } };
}
