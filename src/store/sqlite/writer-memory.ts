import { Bell } from '../../kit/bell.ts';

const WORDS = { rings: 0, unsynced: 1 } as const;
const TIMES_AT = 8;
const TIMES = ['begunMs', 'writtenMs', 'syncedMs', 'endedMs'] as const;
const TIME_AT = { begunMs: 0, writtenMs: 1, syncedMs: 2, endedMs: 3 } as const;
const BYTES = TIMES_AT + TIMES.length * Float64Array.BYTES_PER_ELEMENT;

/** When the last commit began, was in the log, was on disk and was marked, on the time scale that all threads share. */
export type CommitTimes = Readonly<Record<(typeof TIMES)[number], number>>;

/** What the writer's thread shares with the threads that call it. */
export class WriterMemory {
  readonly buffer: SharedArrayBuffer;
  readonly bell: Bell;
  readonly #words: Int32Array;
  readonly #times: Float64Array;

  constructor(buffer = new SharedArrayBuffer(BYTES)) {
    this.buffer = buffer;
    this.#words = new Int32Array(buffer, 0, Object.keys(WORDS).length);
    this.#times = new Float64Array(buffer, TIMES_AT, TIMES.length);
    this.bell = new Bell(this.#words.subarray(WORDS.rings, WORDS.rings + 1));
  }

  /** Whether readers may see a commit that is not on disk yet. */
  get isUnsynced(): boolean {
    return Atomics.load(this.#words, WORDS.unsynced) !== 0;
  }

  set isUnsynced(value: boolean) {
    Atomics.store(this.#words, WORDS.unsynced, value ? 1 : 0);
  }

  noteTime(step: keyof CommitTimes, ms: number): void {
    this.#times[TIME_AT[step]] = ms;
  }

  /** For benchmarks. */
  get lastCommit(): CommitTimes {
    const [begunMs, writtenMs, syncedMs, endedMs] = this.#times as unknown as [number, number, number, number];
    return { begunMs, writtenMs, syncedMs, endedMs };
  }
}
