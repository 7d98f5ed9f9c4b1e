import type { CacheSize } from '../../kit/caches.ts';
import type { Clock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import type { Connections } from './connections.ts';
import { numbers } from './values.ts';

type Counts = ReadonlyMap<bigint, number>;

interface CountRow {
  readonly epoch: bigint;
  readonly key_id: bigint;
  readonly total: bigint;
  /** Whether the row was created after the given time. */
  readonly is_new: boolean;
}

/** Overlap of two reads, because a row may become visible later than its time says. Reading a sum twice is harmless. */
const OVERLAP_MS = 2_000;

/** Adds the requests admitted here, and reads sums that changed elsewhere in the last `$5` milliseconds. */
const EXCHANGE = `
  WITH mine AS (
    INSERT INTO request_count (epoch, key_id, total, first_at, changed_at)
    SELECT $1::int8, key_id, taken, clock_timestamp(), clock_timestamp()
    FROM unnest($2::int8[], $3::int8[]) AS t (key_id, taken) ORDER BY key_id
    ON CONFLICT (epoch, key_id) DO UPDATE SET total = request_count.total + excluded.total, changed_at = clock_timestamp())
  SELECT epoch, key_id, total, first_at > to_timestamp($4::float8) AS is_new FROM request_count
  WHERE epoch <> $1 AND changed_at > clock_timestamp() - $5::int8 * interval '1 millisecond'`;

/** Shares how many requests of each key the processes on one database admitted, as running sums. */
export class RequestCounts {
  readonly #connections: Pick<Connections, 'query'>;
  readonly #epoch: () => bigint | null;
  readonly #clock: Clock;
  /** Last known sums of other processes, by epoch and key. */
  readonly #seen = new Map<string, bigint>();
  #countedFor: bigint | null = null;
  /** In seconds of the database's clock; requests admitted before this process started do not count. */
  #beganS: number | null = null;
  #exchangedMs = 0;
  #exchanges = 0;

  constructor(connections: Pick<Connections, 'query'>, clock: Clock, epoch: () => bigint | null) {
    this.#connections = connections;
    this.#clock = clock;
    this.#epoch = epoch;
  }

  sizes(): CacheSize[] {
    return [{ cache: 'shared_request_counts', entries: this.#seen.size, entriesMax: LIMITS.rateLimitedKeysMax }];
  }

  async exchange(taken: Counts): Promise<Counts> {
    const epoch = this.#epoch();
    if (epoch === null) return new Map();
    // Under a new registration, the sums of the one before would be taken for those of another process.
    if (epoch !== this.#countedFor) this.forget();
    this.#countedFor = epoch;
    if (this.#exchanges++ % LIMITS.requestSweepExchanges === 0) await this.#sweep();
    this.#beganS ??= await this.#databaseS();
    const nowMs = this.#clock.monotonicMs();
    const sinceMs = Math.ceil(nowMs - this.#exchangedMs) + OVERLAP_MS;
    const rows = await this.#connections.query<CountRow>(EXCHANGE, [
      epoch,
      numbers([...taken.keys()]),
      numbers([...taken.values()]),
      this.#beganS,
      sinceMs,
    ]);
    this.#exchangedMs = nowMs;
    return this.#newIn(rows);
  }

  #newIn(rows: readonly CountRow[]): Counts {
    const counts = new Map<bigint, number>();
    for (const { epoch, key_id: keyId, total, is_new: isNew } of rows) {
      const name = `${epoch} ${keyId}`;
      const before = this.#seen.get(name) ?? (isNew ? 0n : total);
      this.#seen.set(name, total);
      // A smaller sum means that the row was created again.
      const more = Number(total < before ? total : total - before);
      if (more > 0) counts.set(keyId, (counts.get(keyId) ?? 0) + more);
    }
    if (this.#seen.size > LIMITS.rateLimitedKeysMax) this.forget();
    return counts;
  }

  /** Deletes sums that no longer change. */
  async #sweep(): Promise<void> {
    await this.#connections.query(
      "DELETE FROM request_count WHERE changed_at < clock_timestamp() - $1::int8 * interval '1 millisecond'",
      [LIMITS.requestCountMs],
    );
  }

  /** The next exchange starts from the sums as they are then. */
  forget(): void {
    this.#seen.clear();
    this.#beganS = null;
  }

  async #databaseS(): Promise<number> {
    const [row] = await this.#connections.query<{ now_s: number }>(
      'SELECT extract(epoch FROM clock_timestamp())::float8 AS now_s',
    );
    return row!.now_s;
  }
}
