import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Receipt } from '../../src/canonical/receipt.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { LIMITS } from '../../src/limits.ts';
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts';
import type { Store } from '../../src/store/store.ts';
import { makeBooksWithAPast } from '../../test/filled-store.ts';
import { diskFolder } from '../disk-folder.ts';
import { processEnvironment } from '../process-environment.ts';
import { BIN } from '../programs.ts';

interface CopyCampaignTerms {
  readonly receipts: number;
  /** An empty database, or an empty schema of one. */
  readonly url: string;
  onStep?(words: string): void;
}

interface CopyCampaign {
  /** Calls in the database after the first attempt was killed. */
  readonly callsAtKill: number;
  /** The output of the attempt that was killed. */
  readonly saidBeforeKill: string;
  readonly secondMs: number;
  /** The answer of the second attempt. */
  readonly answer: Readonly<Record<string, unknown>> & { readonly ok: boolean; readonly start: string };
  readonly receipts: number;
  /** Differences between the two stores, read through their normal interface. */
  readonly differences: readonly string[];
}

/** Copies a ledger with the real command, kills it halfway, runs it again, and compares both stores. */
export async function copyCampaign({
  receipts,
  url,
  onStep = () => undefined,
}: CopyCampaignTerms): Promise<CopyCampaign> {
  const home = diskFolder('tollgate-copy-');
  const folder = join(home, 'books');
  try {
    await makeBooksWithAPast({ folder, calls: receipts, closedPart: 2 });
    onStep(`${receipts} receipts are made`);
    const saidBeforeKill = await killHalfWay(home, folder, url);
    const callsAtKill = await countCalls(url);
    onStep(`killed with ${callsAtKill} of them copied`);
    const beganMs = performance.now();
    const answer = await finish(home, folder, url);
    const secondMs = performance.now() - beganMs;
    onStep('finished by a second attempt');
    return { callsAtKill, saidBeforeKill, secondMs, answer, ...(await compareStores(folder, url)) };
  } finally {
    rmSync(home, { recursive: true });
  }
}

function startCopy(home: string, folder: string, url: string, more: readonly string[] = []): ChildProcess {
  // The URL is passed as it should be: in the environment, not in arguments that every user of the machine can read.
  const env = processEnvironment(home, { TOLLGATE_STORE: url });
  const args = [BIN, 'store', 'copy', '--from', folder, ...more];
  return spawn(process.execPath, args, { env, cwd: home, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function killHalfWay(home: string, folder: string, url: string): Promise<string> {
  const child = startCopy(home, folder, url);
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (words: string) => {
    said += words;
    if (/copying: [5-9]0 %/.test(said)) child.kill('SIGKILL');
  });
  const [code, signal] = await once(child, 'close');
  if (signal !== 'SIGKILL') throw new Error(`The copy ended with ${code} before it could be killed: ${said}`);
  return said;
}

async function finish(home: string, folder: string, url: string): Promise<CopyCampaign['answer']> {
  const child = startCopy(home, folder, url, ['--json']);
  let [out, said] = ['', ''];
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`The second attempt ended with ${code}: ${said}`);
  return JSON.parse(out);
}

/** Opens no instance in the database: none may begin there yet. */
async function countCalls(url: string): Promise<number> {
  const store = await openPostgresStore({ url, clock: systemClock });
  const { receipts } = await store.verify();
  await store.close();
  return receipts;
}

async function compareStores(folder: string, url: string): Promise<Pick<CopyCampaign, 'receipts' | 'differences'>> {
  const sqlite = await openSqliteStore({ folder, clock: systemClock, threads: false });
  const postgres = await openPostgresStore({ url, clock: systemClock });
  const differences: string[] = [];
  const compare = (what: string, one: unknown, other: unknown): void => {
    if (inWords(one) !== inWords(other)) differences.push(what);
  };
  compare('accounts', await accountsOf(sqlite), await accountsOf(postgres));
  compare('verification', await sqlite.verify(), await postgres.verify());
  let receipts = 0;
  let after: bigint | null = null;
  do {
    const originals: Partial<Receipt>[] = await receiptsOf(sqlite, after);
    const copies: Partial<Receipt>[] = await receiptsOf(postgres, after);
    compare(`receipts after ${after}`, originals, copies);
    receipts += copies.length;
    after = originals.at(-1)?.id ?? null;
  } while (after !== null);
  await sqlite.close();
  await postgres.close();
  return { receipts, differences };
}

function accountsOf(store: Store): Promise<unknown> {
  return store.listAccounts({ limit: LIMITS.storePageRowsMax, after: null });
}

/** Without the two texts that PostgreSQL may store differently. */
async function receiptsOf(store: Store, after: bigint | null): Promise<Partial<Receipt>[]> {
  const anyone = { accountId: null, keyId: null, sinceMs: null };
  const receipts = await store.listReceipts(anyone, { limit: LIMITS.storePageRowsMax, after });
  return receipts.map(({ requestedModel: _, lossReason: __, ...rest }) => rest);
}

function inWords(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => (typeof member === 'bigint' ? String(member) : member));
}
