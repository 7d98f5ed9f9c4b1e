const POLL_MS = 20;
const WAIT_MS_MAX = 60_000;

/** Checks a condition every few milliseconds, with pauses, because several rounds share the machine. */
export async function poll(
  condition: () => boolean | Promise<boolean>,
  what: string,
  withinMs = WAIT_MS_MAX,
): Promise<void> {
  const deadlineMs = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > deadlineMs) throw new Error(`Waited ${withinMs} ms in vain until ${what}.`);
    await pause(POLL_MS);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
