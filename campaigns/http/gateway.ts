import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount, mintKey } from '../../src/accounts/accounts.ts';
import { type Config, loadConfig } from '../../src/config/config.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { createLog } from '../../src/kit/log.ts';
import { startGateway } from '../../src/main/start.ts';
import { LACKING_MODELS } from '../../test/bad-requests/models.ts';
import { NO_RATE_LIMITS, simHost } from '../../test/sim-host.ts';

/** A hosted gateway in a process of its own, with garbage collection on request; it stops when its parent sends a message. */

export interface Hello {
  readonly port: number;
  readonly key: string;
}

/** The state of the process after a garbage collection. */
export interface Vitals {
  readonly heapBytes: number;
  readonly bufferBytes: number;
  readonly residentBytes: number;
  readonly callsUnderWay: number;
  readonly openHolds: number;
  readonly connections: number;
  readonly receipts: number;
  readonly violations: readonly string[];
  /** Log lines that should not occur. */
  readonly errors: readonly string[];
}

export type Question = 'vitals' | 'stop';

const ERRORS_KEPT = 20;
const CREDIT_NANOUSD = 1_000_000_000_000_000n;

const folder = mkdtempSync(join(tmpdir(), 'tollgate-hostile-'));
const errors: string[] = [];

function config(): Config {
  const flags = { data: folder, port: '0', operationsPort: '0', hosted: true, transport: process.argv[3] };
  const env = { TOLLGATE_MASTER_KEY: randomBytes(32).toString('base64') };
  const usual = loadConfig({ argvFlags: flags, env, cwd: folder });
  // All attacks use one key: its rate limit is not tested here.
  return {
    ...usual,
    rateLimit: NO_RATE_LIMITS,
    models: LACKING_MODELS,
  };
}

function noteLine(line: string): void {
  if (errors.length < ERRORS_KEPT && /"level":"(error|fatal)"/.test(line)) errors.push(line.trim());
}

const running = await startGateway({
  config: config(),
  hosts: [simHost({ url: process.argv[2]! })],
  clock: systemClock,
  log: createLog({ level: 'info', destination: { write: noteLine } }),
  onFatal: (error) => {
    throw error;
  },
});

async function makeKey(): Promise<string> {
  const { store, ids, ledger } = running.books;
  const services = { store, ids, clock: systemClock };
  const account = await createAccount(services, { name: 'hostile', kind: 'prepaid' });
  if (account === 'name_taken') throw new Error('The name is taken.');
  const credit = {
    id: ids.next(),
    accountId: account.id,
    amountNanousd: CREDIT_NANOUSD,
    reference: 'start',
    note: null,
  };
  await ledger.credit({ ...credit, createdMs: systemClock.nowMs() });
  const terms = {
    name: 'hostile',
    capNanousd: null,
    capWindow: 'lifetime',
    expiresMs: null,
    models: null,
    permissions: [],
    onUnsupported: 'refuse',
  } as const;
  const minted = await mintKey(services, { accountId: account.id, ...terms });
  if (typeof minted === 'string') throw new Error('The account is gone.');
  return minted.secret.reveal();
}

async function vitals(): Promise<Vitals> {
  const { ledger } = running.books;
  const { receipts, violations } = await ledger.verify();
  // The first collection runs finalizers, whose garbage the second removes.
  for (let round = 0; round < 3; round++) {
    globalThis.gc!();
    await new Promise((done) => setImmediate(done));
  }
  const { heapUsed, external, rss } = process.memoryUsage();
  return {
    heapBytes: heapUsed,
    bufferBytes: external,
    residentBytes: rss,
    callsUnderWay: running.gateway.runningCalls.count,
    openHolds: ledger.openHolds,
    connections: process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length,
    receipts: Number(receipts),
    violations,
    errors,
  };
}

async function stop(): Promise<void> {
  await running.stop();
  rmSync(folder, { recursive: true, force: true });
  process.disconnect();
}

process.on('message', (question: Question) => {
  if (question === 'stop') void stop();
  else void vitals().then((answer) => process.send!(answer));
});
process.send!({ port: Number(new URL(running.url).port), key: await makeKey() } satisfies Hello);
