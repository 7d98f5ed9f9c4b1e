import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

const CLOCK = JSON.stringify(new URL('clock.ts', import.meta.url).href);
/** A process that is still waiting then waits for ever. */
const FOREVER_MS = 20_000;

/** How a process ends that runs this and has nothing else to do; null if it does not. */
function endOf(program: string): number | null {
  const code = `import { createServer } from 'node:net'; import { systemClock } from ${CLOCK}; ${program}`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', code], { timeout: FOREVER_MS }).status;
}

test('an unreferenced timer runs in a process that does nothing but listen', () => {
  const program = `createServer().listen(0, '127.0.0.1');
    systemClock.after(300, () => process.exit(7), { unref: true });`;
  expect(endOf(program)).toBe(7);
});

test('a process ends in which only an unreferenced timer runs', () => {
  expect(endOf('systemClock.after(600_000, () => undefined, { unref: true });')).toBe(0);
});
