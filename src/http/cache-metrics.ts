import { Gauge, type Registry } from 'prom-client';
import type { CacheSize } from '../kit/caches.ts';

export type ReadCaches = () => Promise<readonly CacheSize[]>;

/** How much each cache holds, and the most that it may hold. With several workers, the sums of all. */
export function gaugeCaches(registry: Registry, read: ReadCaches): void {
  const readOnce = sharing(read);
  const gauge = (name: string, help: string, figure: 'entries' | 'entriesMax'): Gauge =>
    new Gauge({
      name,
      help,
      labelNames: ['cache'],
      registers: [registry],
      async collect() {
        const sizes = await readOnce();
        this.reset();
        for (const size of sizes) this.set({ cache: size.cache }, size[figure]);
      },
    });
  gauge('tollgate_cache_entries', 'Entries of a cache, table or queue in memory.', 'entries');
  gauge('tollgate_cache_entries_max', 'The most entries that it may have.', 'entriesMax');
}

/** Both gauges of one scrape show the same reading. */
function sharing(read: ReadCaches): ReadCaches {
  let reading: Promise<readonly CacheSize[]> | null = null;
  return () => {
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  };
}
