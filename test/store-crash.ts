import { systemClock } from '../src/kit/clock.ts';
import { IdSource } from '../src/kit/ids.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import { aHold, aSettle } from './store-fixtures.ts';

/** A process that holds and settles until it is killed, and prints each operation once it is confirmed. */
const [folder] = process.argv.slice(2);
const store = await openSqliteStore({ folder: folder!, clock: systemClock });
const { epoch, number } = await store.beginInstance();
const ledger = new Ledger({ store, clock: systemClock, epoch });
const ids = new IdSource(systemClock, number);

async function client(): Promise<never> {
  for (;;) {
    const { kind: _kind, epoch: _epoch, createdMs: _createdMs, ...request } = aHold(ids.next(), 100n, { keyId: 7n });
    await ledger.hold(request);
    process.stdout.write(`held ${request.id}\n`);
    await ledger.settle(request.id, aSettle(request.id, 60n).settlement);
    process.stdout.write(`settled ${request.id}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, client));
