/** Tokens used up to some point of an answer; reasoning is part of the output. */
export interface Spent {
  readonly outputTokens: number;
  readonly reasoningTokens: number;
}

export const NOTHING_SPENT: Spent = { outputTokens: 0, reasoningTokens: 0 };

/** The frames of one stream, each with its tokens, so that usage can be reported at any point. */
export class FrameList {
  readonly frames: string[] = [];
  readonly #spent: Spent[] = [];

  get spent(): Spent {
    return this.#spent.at(-1) ?? NOTHING_SPENT;
  }

  push(frame: string, taken: Spent = NOTHING_SPENT): void {
    const before = this.spent;
    this.frames.push(frame);
    this.#spent.push(
      taken === NOTHING_SPENT
        ? before
        : {
            outputTokens: before.outputTokens + taken.outputTokens,
            reasoningTokens: before.reasoningTokens + taken.reasoningTokens,
          },
    );
  }

  /** Keeps the first frames only. */
  cut(count: number): void {
    this.frames.length = Math.min(this.frames.length, count);
    this.#spent.length = this.frames.length;
  }
}
