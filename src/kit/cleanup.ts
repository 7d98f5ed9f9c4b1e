type Close = () => void | Promise<void>;

/** How to close what was opened so far, in reverse order. */
export class Cleanup {
  readonly #steps: Close[] = [];

  add(close: Close): void {
    this.#steps.push(close);
  }

  /**
   * Runs every step, even after one has failed; then throws the first failure. Later calls do nothing. The steps before the first asynchronous one end before this function returns.
   */
  async run(): Promise<void> {
    const failures: unknown[] = [];
    for (let close = this.#steps.pop(); close !== undefined; close = this.#steps.pop()) {
      try {
        const closing = close();
        if (closing !== undefined) await closing;
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

/** Opens several things. If one cannot be opened, closes those that were and rethrows. */
export async function openAll<Opened>(open: (cleanup: Cleanup) => Promise<Opened>): Promise<Opened> {
  const cleanup = new Cleanup();
  try {
    return await open(cleanup);
  } catch (error) {
    // The failure to open is what matters, not a second one while closing.
    await cleanup.run().catch(() => undefined);
    throw error;
  }
}
