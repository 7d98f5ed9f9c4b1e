import type { Receipt } from '../../api/generated/routes.ts';
import { chainPlaceOf } from './chain.ts';
import type { RequestFilters } from './request-filters.ts';

type Wanted = Pick<RequestFilters, 'model' | 'host' | 'chain' | 'outcome'>;

/** The list with the calls that have ended since it was read. A call that was running then is no longer shown as running. */
export function withLiveTail(
  loaded: readonly Receipt[],
  live: readonly Receipt[],
  filters: Wanted,
): readonly Receipt[] {
  const ended = new Set(live.map(({ id }) => id));
  const current = loaded.filter(({ id, status }) => status !== 'open' || !ended.has(id));
  return [...live.filter((each) => isWanted(each, filters)), ...current];
}

/** The feed knows account and key only, so the other filters are applied here, as the list applies them. */
function isWanted(receipt: Receipt, { model, host, chain, outcome }: Wanted): boolean {
  const { requested_model, effective_model } = receipt;
  if (model !== undefined && ![requested_model, effective_model].includes(model)) return false;
  if (host !== undefined && receipt.host !== host) return false;
  if (chain !== undefined && chainPlaceOf(receipt)?.id !== chain) return false;
  return outcome === 'any' || receipt.ended === outcome;
}
