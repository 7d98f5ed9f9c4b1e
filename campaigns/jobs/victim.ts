import { flushCompileCache } from 'node:module';
import { createAccount, mintKey } from '../../src/accounts/accounts.ts';
import { loadConfig } from '../../src/config/config.ts';
import type { OutgoingRequest, RequestControl, ResponseReceiver } from '../../src/egress/sender.ts';
import { HostConnections } from '../../src/http1/client/host-connections.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { createLog } from '../../src/kit/log.ts';
import { type Running, startGateway } from '../../src/main/start.ts';
import { auditRow, commandLine } from '../../src/operator/actor.ts';
import type { Job } from '../../src/store/jobs.ts';
import { NO_RATE_LIMITS, simHost } from '../../test/sim-host.ts';
import type { JobRow, VictimAnswer, VictimRequest, VictimTerms } from './messages.ts';
import type { KillPoint } from './points.ts';
import { costOfLines, submitJob } from './submitter.ts';

/*
 * A gateway that ends itself with SIGKILL at a point in the life of a job. Run by `campaigns/jobs/kill.ts`, which tells it
 * what to do.
 */

let armed: { readonly point: KillPoint; left: number } | null = null;

/** Nothing runs after this, if it is the moment. */
function reach(point: KillPoint): void {
  if (armed?.point !== point || --armed.left > 0) return;
  process.kill(process.pid, 'SIGKILL');
}

/** The host is asked through this, whatever the gateway does before and after it. */
function watchHosts(): void {
  const send = HostConnections.prototype.send;
  HostConnections.prototype.send = function watched(
    request: OutgoingRequest,
    receiver: ResponseReceiver,
  ): RequestControl {
    reach('before host');
    const head = receiver.head.bind(receiver);
    receiver.head = (status, headers) => {
      reach('mid-answer');
      head(status, headers);
    };
    return send.call(this, request, receiver);
  };
}

function watchStore({ books }: Running): void {
  const { store } = books;
  const apply = store.apply.bind(store);
  store.apply = async (operations) => {
    const starts = operations.some((one) => one.kind === 'hold' && one.job !== undefined);
    const ends = operations.some((one) => one.kind === 'settle' && one.job !== undefined);
    if (starts) reach('before start');
    if (ends) reach('before finish');
    const outcomes = await apply(operations);
    if (operations.some(({ kind }) => kind === 'reserve')) reach('after reserve');
    if (starts) reach('after start');
    if (ends) reach('after finish');
    return outcomes;
  };
  const handOver = store.jobs.handOver.bind(store.jobs);
  store.jobs.handOver = async (events) => {
    reach('before webhook');
    return handOver(events);
  };
  const claim = store.jobs.claim.bind(store.jobs);
  store.jobs.claim = async (...terms) => {
    reach('before claim');
    const jobs = await claim(...terms);
    if (jobs.length > 0) reach('after claim');
    return jobs;
  };
}

async function open({ folder, hostUrl, storeUrl, masterKey }: VictimTerms): Promise<Running> {
  const flags = { port: '0', data: folder, ...(storeUrl !== null && { store: storeUrl }) };
  const config = loadConfig({ argvFlags: flags, env: { TOLLGATE_MASTER_KEY: masterKey }, cwd: folder });
  return startGateway({
    config: {
      ...config,
      hosted: true,
      listen: { host: '127.0.0.1', port: 0, operationsHost: '127.0.0.1', operationsPort: 0, consolePort: null },
      limits: { ...config.limits, shutdownMs: 500 },
      rateLimit: NO_RATE_LIMITS,
    },
    hosts: [simHost({ url: hostUrl })],
    clock: systemClock,
    log: createLog({ level: 'error', destination: 2 }),
    onFatal: (error) => {
      throw error;
    },
  });
}

const CREDIT_NANOUSD = 1_000_000_000_000n;
const WAIT_MS = 60_000;

/** Without a webhook there are no events. This one asks for no event of a job, so nothing is sent to it. */
async function openWebhook({ books }: Running, accountId: bigint): Promise<void> {
  const { ids, store } = books;
  const webhook = { id: ids.next(), accountId, name: 'hook', url: 'https://hook.invalid/', events: ['webhook.test'] };
  const services = { clock: systemClock, ids, actor: commandLine() };
  const audit = auditRow(services, { action: 'webhook.put', subject: 'hook', accountId, after: null });
  const secret = { id: ids.next(), sealed: Buffer.alloc(100) };
  await store.directory.putWebhook({ ...webhook, createdMs: systemClock.nowMs() }, secret, audit);
}

async function openAccount(running: Running): Promise<VictimAnswer> {
  const { books } = running;
  const services = { store: books.store, clock: systemClock, ids: books.ids };
  const account = await createAccount(services, { name: 'payer', kind: 'prepaid' });
  if (account === 'name_taken') throw new Error('The account exists.');
  const id = books.ids.next();
  const amount = { amountNanousd: CREDIT_NANOUSD, reference: String(id), note: null };
  await books.ledger.credit({ id, accountId: account.id, ...amount, createdMs: systemClock.nowMs() });
  const minted = await mintKey(services, {
    ...{ accountId: account.id, personId: null, name: 'key', capNanousd: null, capWindow: 'lifetime' },
    ...{ expiresMs: null, models: null, permissions: [], onUnsupported: 'refuse', maxCostNanousd: null },
  });
  if (typeof minted === 'string') throw new Error('The account is gone.');
  await openWebhook(running, account.id);
  const payer = { accountId: String(account.id), keyId: String(minted.key.id) };
  return { kind: 'account', payer, creditNanousd: String(CREDIT_NANOUSD) };
}

async function audit({ books, jobs }: Running, accountId: bigint): Promise<VictimAnswer> {
  const reader = { accountId, keyId: null, personId: null };
  const rows: JobRow[] = [];
  for (let after: bigint | null = null; ; ) {
    const page: Job[] = await jobs.list(reader, {}, { after, limit: 100 });
    for (const { id } of page) {
      const job = await jobs.wait(reader, id, WAIT_MS);
      const result = job.result === null ? null : await jobs.result(reader, id);
      rows.push({
        ...{ label: job.customId ?? '', state: job.state, attempts: job.attempts, errorCode: job.errorCode },
        costNanousd: String(job.costNanousd ?? 0n),
        resultNanousd: result === null ? null : String(costOfLines(result.lines)),
      });
    }
    if (page.length < 100) break;
    after = page.at(-1)!.id;
  }
  const account = (await books.store.findAccount(accountId))!;
  const { violations, openHolds } = await books.ledger.verify();
  return {
    kind: 'audit',
    rows,
    balanceNanousd: String(account.balanceNanousd),
    boundNanousd: String(account.heldNanousd + account.reservedNanousd),
    faults: openHolds > 0 ? [...violations, `${openHolds} holds are open`] : [...violations],
  };
}

async function answer(running: Running, request: VictimRequest): Promise<VictimAnswer | null> {
  switch (request.kind) {
    case 'open':
      return openAccount(running);
    case 'audit':
      return audit(running, BigInt(request.accountId));
    case 'arm':
      armed = { point: request.point, left: request.left };
      return { kind: 'armed' };
    case 'submit': {
      const payer = { accountId: BigInt(request.payer.accountId), keyId: BigInt(request.payer.keyId) };
      await submitJob(running, payer, { label: request.label, terms: { onUnknown: request.onUnknown } });
      return { kind: 'accepted', label: request.label };
    }
    case 'stop':
      await running.stop();
      process.disconnect();
      return null;
  }
}

watchHosts();
const running = await open(JSON.parse(process.argv[2]!) as VictimTerms);
watchStore(running);
process.on('message', (request: VictimRequest) => {
  answer(running, request).then(
    (said) => said !== null && process.send!(said),
    (error: unknown) => process.send!({ kind: 'failed', message: String(error) } satisfies VictimAnswer),
  );
});
// Node writes it when a process ends, but not when it is killed.
flushCompileCache();
process.send!({ kind: 'ready' } satisfies VictimAnswer);
