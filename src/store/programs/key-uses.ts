import { type Program, query } from './program.ts';

/** Under the lock of keys, because two processes may note uses of the same keys in another order. */
export function* noteKeyUses(uses: ReadonlyMap<bigint, number>): Program<void> {
  yield { lock: 'keys' };
  for (const [id, usedMs] of uses) {
    yield query('UPDATE api_key SET used_ms = ? WHERE id = ? AND coalesce(used_ms, 0) < ?', usedMs, id, usedMs);
  }
}
