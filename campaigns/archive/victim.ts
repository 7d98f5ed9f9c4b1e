import { ManualClock } from '../../src/kit/clock.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { archiveAudit } from './audit.ts';
import type { VictimTerms } from './kill.ts';

/* Archives receipts and ends itself with SIGKILL at a step. Run by `campaigns/archive/kill.ts`. */

const { engine, place, folder, beforeMs, nowMs, step, count } = JSON.parse(process.argv[2]!) as VictimTerms;
const clock = new ManualClock(nowMs);
let left = count;

function openStore(): Promise<Store> {
  return engine === 'sqlite'
    ? openSqliteStore({ folder: place, clock })
    : openPostgresStore({ url: place, clock, databaseTime: false });
}

const store = await openStore();
await store.archive.run({
  folder,
  beforeMs,
  clock,
  audit: archiveAudit,
  reached: async (at) => {
    if (at === step && --left === 0) process.kill(process.pid, 'SIGKILL');
  },
});
await store.close();
