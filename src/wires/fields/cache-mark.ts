import type { Block, CacheMark, CanonicalRequest } from '../../canonical/request.ts';
import type { Adjustments } from '../adjustments.ts';
import { isObject, isText, type Members } from './members.ts';
import { hasNoEffect } from './without-effect.ts';

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

const MARK = 'cache_control';
const RETENTION = 'prompt_cache_retention';
const OPTIONS = 'prompt_cache_options';

/** Names marks for a host that gets none, once: they are hints, but without them a prompt may cost more. */
export function noteMarks({ cache, tools, messages }: CanonicalRequest, adjustments: Adjustments): void {
  const isMarked =
    cache !== undefined || tools.some(hasMark) || messages.some(({ blocks }) => blocks.some(isMarkedBlock));
  if (isMarked) adjustments.note(MARK);
}

function isMarkedBlock(block: Block): boolean {
  if (block.kind === 'reasoning' || block.kind === 'refusal') return false;
  return hasMark(block) || (block.kind === 'tool-result' && block.content.some(hasMark));
}

function hasMark(holder: { readonly cache?: CacheMark }): boolean {
  return holder.cache !== undefined;
}

/** The same about the lifetime of a cache. */
export function noteRetention({ cacheRetention }: CanonicalRequest, adjustments: Adjustments): void {
  if (cacheRetention !== undefined) adjustments.note(RETENTION);
}

/** The same about options that no other wire has. */
export function noteCacheOptions({ [OPTIONS]: options }: Members, adjustments: Adjustments): void {
  if (!hasNoEffect(OPTIONS, options)) adjustments.note(OPTIONS);
}
