import { LIMITS } from '../limits.ts';
import { INT64_MIN } from './int64.ts';
import type { Page } from './store.ts';

export function limitOf(page: Page): bigint {
  return BigInt(Math.min(page.limit, LIMITS.storePageRowsMax));
}

/** For listings by ascending id. */
export function afterOf(page: Page): bigint {
  return page.after ?? INT64_MIN;
}
