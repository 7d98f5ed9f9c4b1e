import { rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { createAccount, mintKey } from '../../src/accounts/accounts.ts';
import { ACCOUNT_PREFIX, KEY_PREFIX } from '../../src/canonical/id-prefixes.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { formatId, IdSource } from '../../src/kit/ids.ts';
import { startSim } from '../../src/sim/sim.ts';
import type { Sim } from '../../src/sim/sim-handle.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import type { Store } from '../../src/store/store.ts';
import { aPerson, audit } from '../../test/people-fixtures.ts';
import { type PostgresServer, startPostgres } from '../../test/postgres-server.ts';
import { diskFolder } from '../disk-folder.ts';
import { configOf, type Key } from '../kill/world.ts';
import { Replica } from './replica.ts';

const REPLICAS = 3;

interface KeyTerms {
  readonly creditNanousd: bigint;
  readonly capNanousd?: bigint;
  /** The account; with its id another key can be minted. */
  readonly account?: bigint;
  /** Makes it the key of a new person with this cap in the account. */
  readonly personCapNanousd?: bigint;
  /** Whose key it is, if the person is in the account already. */
  readonly personId?: bigint | null;
}

/** The key's secret, and its id. */
export interface ReplicaKey extends Key {
  readonly accountId: bigint;
  readonly keyId: bigint;
  readonly personId: bigint | null;
}

/** Several gateways on one database and one host, and direct access to the ledger. */
export class World {
  readonly server: PostgresServer;
  readonly sim: Sim;
  readonly store: Store;
  readonly replicas: readonly Replica[];
  readonly #folder: string;
  readonly #pool: pg.Pool;
  /** An instance number that no replica reaches in a campaign. */
  readonly #ids = new IdSource(systemClock, 1023);
  #accounts = 0;

  private constructor(folder: string, server: PostgresServer, sim: Sim, store: Store, replicas: readonly Replica[]) {
    this.#folder = folder;
    this.server = server;
    this.sim = sim;
    this.store = store;
    this.replicas = replicas;
    this.#pool = new pg.Pool({ connectionString: server.url(), max: 2, allowExitOnIdle: true });
    // A server that was killed takes its idle connections with it.
    this.#pool.on('error', () => undefined);
  }

  static async create(settings: object = {}): Promise<World> {
    const folder = diskFolder('tollgate-replicas-');
    const server = await startPostgres();
    const sim = await startSim();
    const store = await openPostgresStore({ url: server.url(), clock: systemClock });
    const create = (number: number): Promise<Replica> =>
      Replica.create({
        folder: join(folder, String(number)),
        databaseUrl: server.url(),
        hostUrl: sim.url,
        configFor: (hostUrl) => ({ ...configOf(hostUrl), ...settings }),
      });
    const replicas = await Promise.all(Array.from({ length: REPLICAS }, (_, number) => create(number)));
    return new World(folder, server, sim, store, replicas);
  }

  async openKey({ creditNanousd, capNanousd, account, personCapNanousd, ...who }: KeyTerms): Promise<ReplicaKey> {
    const services = { store: this.store, clock: systemClock, ids: this.#ids };
    const accountId = account ?? (await this.#openAccount(creditNanousd));
    const personId =
      personCapNanousd === undefined ? (who.personId ?? null) : await this.#enrol(accountId, personCapNanousd);
    const key = {
      accountId,
      personId,
      name: '',
      capNanousd: capNanousd ?? null,
      capWindow: 'lifetime',
      expiresMs: null,
    } as const;
    const minted = await mintKey(services, { ...key, models: null, permissions: [], onUnsupported: 'refuse' });
    if (typeof minted === 'string') throw new Error('An account that was just made is not there.');
    const ids = { id: formatId(KEY_PREFIX, minted.key.id), account: formatId(ACCOUNT_PREFIX, accountId) };
    return { ...ids, secret: minted.secret.reveal(), accountId, keyId: minted.key.id, personId };
  }

  async #enrol(accountId: bigint, capNanousd: bigint): Promise<bigint> {
    const personId = this.#ids.next();
    const person = aPerson(personId);
    const row = (action: string) => ({ ...audit(action), id: this.#ids.next() });
    await this.store.directory.createPerson(person, row('person.create'));
    const membership = { accountId, personId, role: 'member', capNanousd, capWindow: 'lifetime' } as const;
    await this.store.directory.putMembership(membership, row('member.put'));
    return personId;
  }

  async #openAccount(creditNanousd: bigint): Promise<bigint> {
    const services = { store: this.store, clock: systemClock, ids: this.#ids };
    const account = await createAccount(services, { name: `account ${++this.#accounts}`, kind: 'prepaid' });
    if (account === 'name_taken') throw new Error('An account of this name exists already.');
    const id = this.#ids.next();
    const credit = { kind: 'credit', id, accountId: account.id, amountNanousd: creditNanousd, note: null } as const;
    await this.store.apply([{ ...credit, reference: String(id), createdMs: systemClock.nowMs() }]);
    return account.id;
  }

  async sql<Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#pool.query<Row>(text, [...values])).rows;
  }

  /** The current instance of that replica. */
  async epochOf(replica: Replica): Promise<bigint> {
    const [row] = await this.sql<{ epoch: string }>('SELECT epoch FROM instance WHERE number = $1 AND state = 1', [
      await replica.number(),
    ]);
    if (row === undefined) throw new Error('A replica that answers has no row in the table of instances.');
    return BigInt(row.epoch);
  }

  /** Makes only these instances look silent for a long time, as if the database's clock had moved on. */
  async takeForSilent(epochs: readonly bigint[]): Promise<void> {
    await this.sql(
      `UPDATE instance SET beat_at = clock_timestamp() - interval '1 minute'
       WHERE epoch = ANY($1::int8[]) AND state = 1 AND beat_at > clock_timestamp() - interval '30 seconds'`,
      [epochs],
    );
    await this.sql(
      `UPDATE instance SET beating_since = clock_timestamp() - interval '1 minute'
       WHERE epoch <> ALL($1::int8[]) AND state = 1 AND beating_since > clock_timestamp() - interval '30 seconds'`,
      [epochs],
    );
  }

  async openHolds(): Promise<number> {
    const [row] = await this.sql<{ holds: string }>('SELECT count(*) AS holds FROM call WHERE state = 1');
    return Number(row!.holds);
  }

  async end(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.end()));
    await this.store.close();
    await this.#pool.end();
    await this.sim.close();
    await this.server.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
