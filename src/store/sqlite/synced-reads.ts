import { isBroken } from './batch.ts';
import { faultOf, type Link, unavailable } from './link.ts';
import type { WriterMemory } from './writer-memory.ts';
import type { WriterVerbs } from './writer-verbs.ts';

/**
 * Readers see a commit as soon as it is in the log, which is before it is on disk. Nobody may see it until then: the
 * writer, which is syncing it, replies only afterwards.
 */
export class SyncedReads {
  readonly #memory: Pick<WriterMemory, 'isUnsynced'>;
  readonly #writer: Pick<Link<Pick<WriterVerbs, 'ping'>>, 'call'>;

  constructor(memory: Pick<WriterMemory, 'isUnsynced'>, writer: Pick<Link<Pick<WriterVerbs, 'ping'>>, 'call'>) {
    this.#memory = memory;
    this.#writer = writer;
  }

  async read<Result>(run: () => Result | Promise<Result>): Promise<Result> {
    try {
      const result = await run();
      if (this.#memory.isUnsynced) await this.#writer.call('ping');
      return result;
    } catch (error) {
      throw isBroken(error) ? unavailable(faultOf(error)) : error;
    }
  }
}
