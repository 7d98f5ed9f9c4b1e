import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { diskFolder } from '../campaigns/disk-folder.ts';
import { scriptOf } from '../campaigns/programs.ts';
import { systemClock } from '../src/kit/clock.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../src/store/store.ts';
import { aCredit, aKey, prepare } from './store-fixtures.ts';

const KILLS = 4;

describe('a store whose process is killed', () => {
  let folder: string;
  let store: Store;

  beforeEach(async () => {
    folder = diskFolder('tollgate-crash-');
    store = await openSqliteStore({ folder, clock: systemClock, threads: false });
    await prepare(store);
    await store.createKey(aKey(7n, 1n));
    await store.apply([aCredit(1n, 1_000_000_000n)]);
    await store.close();
  });

  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  /** Runs the process until it has printed this many lines, kills it, and returns all lines. */
  async function runAndKill(lines: number): Promise<string[]> {
    const child = spawn(process.execPath, [scriptOf('test/store-crash.ts'), folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const gone = once(child, 'exit');
    const said: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      said.push(line);
      if (said.length === lines) child.kill('SIGKILL');
    }
    await gone;
    return said;
  }

  it('is never refused as incomplete, however soon after a start it is killed', async () => {
    const notices: string[] = [];
    for (let kill = 1; kill <= KILLS; kill++) {
      await runAndKill(kill);
      store = await openSqliteStore({
        folder,
        clock: systemClock,
        threads: false,
        onNotice: (one) => notices.push(one),
      });
      expect((await store.verify()).violations).toEqual([]);
      await store.close();
    }
    expect(notices).toEqual([]);
  });

  it('keeps everything that was confirmed, and passes verification', async () => {
    for (let kill = 1; kill <= KILLS; kill++) {
      const said = await runAndKill(97 * kill);
      store = await openSqliteStore({ folder, clock: systemClock, threads: false });
      const states = { held: ['open', 'settled'], settled: ['settled'] };
      for (const line of said) {
        const [what, id] = line.split(' ') as ['held' | 'settled', string];
        expect(states[what]).toContain((await store.findReceipt(BigInt(id), 1n))?.state);
      }
      const before = await store.verify();
      expect(before.violations).toEqual([]);
      expect((await store.beginInstance()).voidedHolds).toBe(before.openHolds);
      expect(await store.verify()).toMatchObject({ openHolds: 0, violations: [] });
      expect(await store.findAccount(1n)).toMatchObject({ heldNanousd: 0n });
      await store.close();
    }
  });
});
