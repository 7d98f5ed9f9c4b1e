import { DatabaseSync } from 'node:sqlite';
import type { Settlement } from '../src/canonical/receipt.ts';
import { ManualClock } from '../src/kit/clock.ts';
import { IdSource } from '../src/kit/ids.ts';
import { databaseFile } from '../src/store/sqlite/database.ts';
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts';
import { CAP_WINDOWS, type HoldOperation, type LedgerOperation, type Store } from '../src/store/store.ts';
import { Random } from './random.ts';
import { aCredit, aHold, aKey, anAccount, aSettle } from './store-fixtures.ts';

interface PastTerms {
  readonly folder: string;
  readonly calls: number;
  /** The share of the calls, the oldest ones, that are closed. */
  readonly closedPart?: number;
  readonly seed?: number;
}

const DAY_MS = 86_400_000;
const ACCOUNTS = 6;
const KEYS = 12;
const BATCH_CALLS = 200;

/** Rows of every kind, written with the store's own verbs, as a gateway leaves them after forty days. */
export async function makeBooksWithAPast({ folder, calls, closedPart = 0.4, seed = 1 }: PastTerms): Promise<void> {
  const nowMs = Date.now();
  const clock = new ManualClock(nowMs - 40 * DAY_MS);
  const store = await openSqliteStore({ folder, clock, threads: false });
  const past = new Past(store, clock, new Random(seed));
  await past.openAccounts();
  const stepMs = Math.floor((39 * DAY_MS) / Math.max(1, Math.ceil(calls / BATCH_CALLS)));
  let isClosed = false;
  for (let done = 0; done < calls; done += BATCH_CALLS) {
    if (!isClosed && done >= calls * closedPart) {
      clock.advance(2 * 3_600_000);
      await store.closeBooks(clock.nowMs() - 20 * DAY_MS);
      isClosed = true;
    }
    await past.makeCalls(Math.min(BATCH_CALLS, calls - done));
    clock.advance(stepMs);
  }
  await past.dieInACall();
  await store.close();
  noteLoss(folder, nowMs);
}

/** A loss that was accepted once, so that only tables of the closed part can be empty. */
function noteLoss(folder: string, nowMs: number): void {
  const database = new DatabaseSync(databaseFile(folder));
  database.prepare('INSERT INTO accepted_loss VALUES (1, ?, 3, 4000)').run(BigInt(nowMs));
  database.close();
}

class Past {
  readonly #store: Store;
  readonly #clock: ManualClock;
  readonly #random: Random;
  #ids: IdSource;
  #epoch = 1n;
  #calls = 0;

  constructor(store: Store, clock: ManualClock, random: Random) {
    this.#store = store;
    this.#clock = clock;
    this.#random = random;
    this.#ids = new IdSource(clock, 1);
  }

  async openAccounts(): Promise<void> {
    const store = this.#store;
    const createdMs = this.#clock.nowMs();
    this.#epoch = (await store.beginInstance()).epoch;
    await store.registerPrices('prices-1', '{"model":1}');
    await store.registerPrices('prices-2', '{"model":"zwölf \\"Euro\\""}');
    for (let id = 1n; id <= ACCOUNTS; id++) {
      await store.createAccount(anAccount(id, { kind: id === 2n ? 'unlimited' : 'prepaid', createdMs }));
    }
    for (let id = 1n; id <= KEYS; id++) await this.#makeKey(id);
    await store.updateKey(2n, { revokedMs: createdMs + DAY_MS });
    const secret = { sha256Hex: 'f'.repeat(64), prefix: 'tg_live_ffff', lastFour: 'ffff' };
    await store.rotateKey(3n, { secret, oldExpiresMs: createdMs + DAY_MS });
    for (let id = 1n; id <= 4n; id++) {
      const sealed = Uint8Array.from({ length: 80 }, () => this.#random.below(256));
      const provider = id % 2n === 0n ? 'cloud' : 'elsewhere';
      const baseUrl = `https://resource-${id}.example/openai/v1`;
      await store.putProviderKey({
        id,
        accountId: (id + 1n) / 2n,
        provider,
        baseUrl,
        lastFour: 'wxyz',
        sealed,
        createdMs,
        verifiedMs: createdMs,
      });
    }
    const credits = Array.from({ length: ACCOUNTS }, (_, at) => {
      const note = at % 2 === 0 ? null : 'a "note" \\ with\nall sorts, überwiesen';
      return aCredit(BigInt(at + 1), 10_000_000_000n, { accountId: BigInt(at + 1), note, createdMs });
    });
    await store.apply([...credits, aCredit(99n, -1_000_000_000n, { reference: 'taken back', createdMs })]);
  }

  #makeKey(id: bigint): Promise<unknown> {
    const capWindow = CAP_WINDOWS[Number(id) % CAP_WINDOWS.length]!;
    const models = id % 3n === 0n ? ['model', 'vendor/model'] : null;
    const capNanousd = id % 2n === 0n ? null : 9_000_000_000_000n;
    const key = { capWindow, models, capNanousd, createdMs: this.#clock.nowMs() };
    return this.#store.createKey(aKey(id, (id % BigInt(ACCOUNTS)) + 1n, key));
  }

  async makeCalls(count: number): Promise<void> {
    const holds = Array.from({ length: count }, () => this.#hold());
    const outcomes = await this.#store.apply(holds);
    this.#clock.advance(1_500);
    await this.#store.apply(holds.filter((_, at) => outcomes[at]?.kind === 'held').map((hold) => this.#end(hold)));
    if (this.#random.chance(0.3)) this.#epoch = (await this.#store.beginInstance()).epoch;
  }

  /** The process is killed while a host answers. */
  async dieInACall(): Promise<void> {
    await this.#store.apply([this.#hold({ idempotency: this.#mark('the last one') })]);
  }

  #hold(over: Partial<HoldOperation> = {}): HoldOperation {
    const random = this.#random;
    const number = this.#calls++;
    const keyId = random.chance(0.8) ? BigInt(random.between(3, KEYS)) : null;
    const accountId = keyId === null ? BigInt(random.between(1, ACCOUNTS)) : (keyId % BigInt(ACCOUNTS)) + 1n;
    return aHold(this.#ids.next(), BigInt(random.between(2_000, 9_000)), {
      epoch: this.#epoch,
      accountId,
      keyId,
      priceId: random.between(1, 2),
      stream: random.chance(0.5),
      route: random.pick(['/v1/chat/completions', '/v1/messages']),
      requestedModel: random.pick(['vendor/model', 'model', `deployment ${'x'.repeat(700)}`, `zero\0 ${number % 5}`]),
      labels: random.chance(0.2) ? { user: `n° ${number} "quoted" \\ {braces}, commas`, zero: '\0' } : null,
      idempotency: random.chance(0.2) ? this.#mark(`key ${number} ü {,"\\`) : null,
      createdMs: this.#clock.nowMs(),
      ...over,
    });
  }

  #mark(key: string): HoldOperation['idempotency'] {
    return { key, bodySha256: Uint8Array.from({ length: 32 }, () => this.#random.below(256)) };
  }

  #end({ id, amountNanousd, idempotency }: HoldOperation): LedgerOperation {
    const random = this.#random;
    if (random.chance(0.02)) return { kind: 'void', id, reason: 'A test gave it back.' };
    const cost = BigInt(random.below(Number(amountNanousd) + 1));
    const kept = idempotency !== null && random.chance(0.5) ? new Uint8Array(random.below(20_000)).fill(7) : null;
    const settle = aSettle(id, cost, this.#settlement(cost), kept);
    return { ...settle, endedMs: this.#clock.nowMs() };
  }

  #settlement(cost: bigint): Partial<Settlement> {
    const random = this.#random;
    if (random.chance(0.1)) {
      const tries = [{ host: 'host-a', outcome: '503', ms: 12 }];
      return {
        ended: 'upstream_error',
        httpStatus: 502,
        tries,
        attempts: 2,
        lossNanousd: 5n,
        lossReason: 'it\0 broke',
      };
    }
    const tokens = () => random.below(5_000);
    const part = cost / 3n;
    return {
      host: random.chance(0.9) ? 'host-a' : null,
      usage: {
        freshTokens: tokens(),
        cacheReadTokens: tokens(),
        cacheWriteTokens: 0,
        cacheWrite1hTokens: 0,
        outputTokens: tokens(),
        reasoningTokens: 0,
      },
      components: {
        freshNanousd: part,
        cacheWriteNanousd: 0n,
        cacheReadNanousd: part,
        outputNanousd: cost - 2n * part,
      },
    };
  }
}
