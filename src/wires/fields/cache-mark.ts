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
  if (isObject(control) || !isObject(point)) return readCacheMark(control);
  return { cache: { lifetime: null, ...readCacheMark(point).cache, writtenAs: POINT } };
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
const POINT = 'prompt_cache_breakpoint';
const RETENTION = 'prompt_cache_retention';
const OPTIONS = 'prompt_cache_options';

/** Names marks for a host that gets none, each name once: they are hints, but without them a prompt may cost more. */
export function noteMarks({ cache, tools, messages }: CanonicalRequest, adjustments: Adjustments): void {
  const names = new Set<string>();
  const add = (holder: { readonly cache?: CacheMark }): void => {
    if (holder.cache !== undefined) names.add(holder.cache.writtenAs ?? MARK);
  };
  if (cache !== undefined) add({ cache });
  tools.forEach(add);
  for (const { blocks } of messages) blocks.flatMap(holdersIn).forEach(add);
  for (const name of names) adjustments.note(name);
}

/** What may have a mark in a block. */
function holdersIn(block: Block): readonly { readonly cache?: CacheMark }[] {
  if (block.kind === 'reasoning' || block.kind === 'refusal') return [];
  return block.kind === 'tool-result' ? [block, ...block.content] : [block];
}

/** The same about the lifetime of a cache. */
export function noteRetention({ cacheRetention }: CanonicalRequest, adjustments: Adjustments): void {
  if (cacheRetention !== undefined) adjustments.note(RETENTION);
}

/** The same about options that no other wire has. */
export function noteCacheOptions({ [OPTIONS]: options }: Members, adjustments: Adjustments): void {
  if (!hasNoEffect(OPTIONS, options)) adjustments.note(OPTIONS);
}
