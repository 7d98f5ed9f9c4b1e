import { systemClock, type Timer } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';

/** Hands log lines to the first worker, which writes them: two threads that wrote to one pipe would mix their lines. */
export class LineRelay {
  readonly #send: (lines: readonly string[]) => void;
  #waiting: string[] = [];
  #timer: Timer | null = null;

  constructor(send: (lines: readonly string[]) => void) {
    this.#send = send;
  }

  write(line: string): void {
    this.#waiting.push(line);
    this.#timer ??= systemClock.after(LIMITS.workerLogMs, () => this.flush(), { unref: true });
  }

  flush(): void {
    this.#timer?.cancel();
    this.#timer = null;
    if (this.#waiting.length === 0) return;
    const lines = this.#waiting;
    this.#waiting = [];
    this.#send(lines);
  }
}
