import { LIMITS } from '../../limits.ts';
import {
  type BarePattern,
  bareAt,
  barePattern,
  identityAt,
  mayBeAt,
  mayHaveTextAt,
  type StreamIdentity,
  shapeFor,
  type WordsPattern,
  wordsPattern,
} from './frame-pattern.ts';
import type { PassedFrames } from './passed-frames.ts';
import type { RepeatedFrames, RepeatedRun, Shape } from './repeated-frames.ts';

/**
 * Patterns of a host's frames, shared by the streams of one model on the same terms, so that each stream need not learn
 * them again. Keeps a few patterns, and no text, id or time of any stream.
 */
export class FrameMemory {
  readonly #words: WordsPattern[] = [];
  readonly #openings: BarePattern[] = [];
  readonly #ends: BarePattern[] = [];
  #learned = 0;
  #used = 0;
  #declined = 0;

  get words(): readonly WordsPattern[] {
    return this.#words;
  }

  get openings(): readonly BarePattern[] {
    return this.#openings;
  }

  get ends(): readonly BarePattern[] {
    return this.#ends;
  }

  /** Patterns of all kinds. */
  get size(): number {
    return this.#words.length + this.#openings.length + this.#ends.length;
  }

  /** How often a stream used a pattern of another stream. */
  get used(): number {
    return this.#used;
  }

  /** Called before learning, which costs more than parsing a frame: a host that never repeats itself is rarely learned from. */
  mayLearn(): boolean {
    const isUnused = this.#learned >= FREE_LESSONS && this.#used < this.#learned * USES_PER_LESSON;
    if (isUnused && ++this.#declined % RETRY_EVERY !== 0) return false;
    this.#learned++;
    return true;
  }

  learnWords(shape: Shape, identity: StreamIdentity): void {
    if (isTooLarge(shape.seam.bytes.length + (shape.between?.length ?? 0), shape.written?.length)) return;
    const pattern = wordsPattern(shape, identity);
    if (pattern !== null) keep(this.#words, pattern, ({ seam }) => seam.bytes.equals(pattern.seam.bytes));
  }

  learnOpening(raw: Buffer, written: string | null, identity: StreamIdentity): void {
    learnBare(this.#openings, raw, written, identity);
  }

  learnEnd(raw: Buffer, written: string | null, identity: StreamIdentity): void {
    learnBare(this.#ends, raw, written, identity);
  }

  /** The known first frame that starts here, and the identity in it. */
  opening(bytes: Buffer, from: number): Opening | null {
    for (const pattern of this.#openings) {
      const identity = identityAt(pattern, bytes, from);
      const passed = identity === null ? null : bareAt(pattern, identity, bytes, from);
      if (identity === null || passed === null) continue;
      this.#used++;
      return { identity, passed };
    }
    return null;
  }

  noteUse(): void {
    this.#used++;
  }
}

interface Opening {
  readonly identity: StreamIdentity;
  readonly passed: PassedFrames;
}

/** After the first attempts, each further one needs this many uses; otherwise learning is allowed now and then. */
const FREE_LESSONS = 16;
const USES_PER_LESSON = 16;
const RETRY_EVERY = 128;

function isTooLarge(came: number, written = 0): boolean {
  return Math.max(came, written) > LIMITS.cachedFrameBytesMax;
}

function learnBare(known: BarePattern[], raw: Buffer, written: string | null, identity: StreamIdentity): void {
  if (isTooLarge(raw.length, written?.length)) return;
  const pattern = barePattern(raw, written, identity);
  if (pattern !== null) keep(known, pattern, (other) => other.raw.bytes.equals(pattern.raw.bytes));
}

/** Keeps the newest patterns, each once. */
function keep<Pattern>(patterns: Pattern[], pattern: Pattern, isSame: (known: Pattern) => boolean): void {
  const same = patterns.findIndex(isSame);
  if (same !== -1) patterns.splice(same, 1);
  else if (patterns.length === LIMITS.cachedFramesMax) patterns.shift();
  patterns.push(pattern);
}

/** One stream's use of the memory, with its own identity. */
export class StreamMemory {
  readonly #memory: FrameMemory;
  readonly #identity: StreamIdentity;
  readonly #taken: WordsPattern[] = [];
  #wordsMissed = 0;
  #endsMissed = 0;

  constructor(memory: FrameMemory, identity: StreamIdentity) {
    this.#memory = memory;
    this.#identity = identity;
  }

  /** The run of frames that starts here, if it matches a pattern. After that, the stream recognises the shape without this memory. */
  words(known: RepeatedFrames, bytes: Buffer, from: number): RepeatedRun | null {
    if (this.#wordsMissed >= MISSES_MAX) return null;
    for (const pattern of this.#memory.words) {
      if (this.#taken.includes(pattern) || !mayHaveTextAt(pattern, this.#identity, bytes, from)) continue;
      const run = known.adopt(shapeFor(pattern, this.#identity), bytes, from);
      if (run !== null) {
        this.#taken.push(pattern);
        this.#memory.noteUse();
        return run;
      }
      this.#wordsMissed++;
    }
    return null;
  }

  /** The known last frame that starts here. */
  end(bytes: Buffer, from: number): PassedFrames | null {
    if (this.#endsMissed >= MISSES_MAX) return null;
    for (const pattern of this.#memory.ends) {
      if (!mayBeAt(pattern, this.#identity, bytes, from)) continue;
      const passed = bareAt(pattern, this.#identity, bytes, from);
      if (passed !== null) {
        this.#memory.noteUse();
        return passed;
      }
      this.#endsMissed++;
    }
    return null;
  }
}

/** Stops after this many false matches, which cost more than they save. */
const MISSES_MAX = 8;
