/** How much a cache holds now, and the most that it may hold. */
export interface CacheSize {
  readonly cache: string;
  readonly entries: number;
  readonly entriesMax: number;
}

type ReadSizes = () => readonly CacheSize[] | Promise<readonly CacheSize[]>;

/**
 * The caches, tables and queues of a thread that grow with its traffic, so that one place can say how large each one is.
 * Sizes are read when somebody asks for them, so a call pays nothing for it.
 */
export class Caches {
  readonly #sources: ReadSizes[] = [];

  add(cache: string, entriesMax: number, entries: () => number): void {
    this.#sources.push(() => [{ cache, entries: entries(), entriesMax }]);
  }

  /** For parts that have several caches, or have them in another thread. */
  addAll(read: ReadSizes): void {
    this.#sources.push(read);
  }

  /** A part that cannot answer now, like a store that is unavailable, is left out. */
  async sizes(): Promise<CacheSize[]> {
    const sizes = await Promise.allSettled(this.#sources.map(async (read) => read()));
    return sizes.flatMap((read) => (read.status === 'fulfilled' ? read.value : []));
  }
}
