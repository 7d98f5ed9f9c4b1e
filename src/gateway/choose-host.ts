import { type CallTraits, chooseHosts, hashBytes, hashText } from '../hosts/choose.ts';
import type { Candidate } from '../hosts/directory.ts';
import { LIMITS } from '../limits.ts';
import { worstCase } from '../money/worst-case.ts';
import type { Gateway } from './gateway.ts';
import { type CallContext, noHost } from './host-call.ts';

/** The hosts to try for this call, in order. Most models have one host, which needs no comparison. */
export function hostsFor({ hosts, clock }: Gateway, context: CallContext): readonly Candidate[] {
  const candidates = hosts().candidates(context.admission.model);
  if (candidates.length === 1 && candidates[0]!.health?.untroubled !== false) return candidates;
  const nowMs = clock.monotonicMs();
  const chosen = chooseHosts(candidates, nowMs, traitsOf(context));
  if (chosen.length === 0) throw noHost(soonestMs(candidates, nowMs));
  return chosen;
}

/** How long until the first of these hosts may be tried again. */
export function soonestMs(candidates: readonly Candidate[], nowMs: number): number {
  const waitsMs = candidates.map(({ health }) => health?.closedForMs(nowMs) ?? 0);
  return waitsMs.length === 0 ? 0 : Math.min(...waitsMs);
}

function traitsOf(context: CallContext): CallTraits {
  const { inputBound, tierBound, outputBound, cacheWrites } = context.admission;
  return {
    costAt: (price) => worstCase({ price, inputBound, tierBound, outputBound, cacheWrites }).worstNanousd,
    affinity: () => affinityOf(context),
  };
}

/**
 * Identifies the prompt cache that a call would hit: by account, and by the caller's cache key or the start of the
 * prompt.
 */
function affinityOf({ call, text, peek }: Pick<CallContext, 'call' | 'text' | 'peek'>): number {
  const account = hashText(String(call.caller.accountId));
  const cacheKey = peek.labels?.prompt_cache_key;
  if (cacheKey !== undefined) return hashText(cacheKey, account);
  for (const field of call.wire.client.promptFields ?? [peek.promptParam ?? 'messages']) {
    // Use only the first entry of a list: a conversation appends entries from call to call.
    const span = text.locate([field, 0]) ?? text.locate([field]);
    if (span === null) continue;
    return hashBytes(text.bytes, span.start, Math.min(span.end, span.start + LIMITS.promptHeadBytesMax), account);
  }
  return account;
}
