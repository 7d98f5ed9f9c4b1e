import { GatewayError } from '../../src/canonical/errors.ts';
import type { Job } from '../../src/jobs/jobs.ts';
import type { Running } from '../../src/main/start.ts';
import { FINAL_JOB_STATES } from '../../src/store/jobs.ts';
import { type Harness, simHost, startHarness } from '../../test/harness.ts';
import { Random } from '../../test/random.ts';
import { costOfLines, MODEL, type Submitted, type Submitter, submitJob } from './submitter.ts';

interface MoneyTerms {
  readonly jobs: number;
  readonly accounts: number;
  readonly seed: number;
  onProgress?(submitted: number): void;
}

export interface MoneyReport {
  readonly accepted: number;
  readonly refused: ReadonlyMap<string, number>;
  readonly states: ReadonlyMap<string, number>;
  readonly priceVersions: number;
  readonly chargedNanousd: bigint;
  readonly faults: readonly string[];
}

const AT_ONCE = 25;
const PRICE_CHANGES = 4;

/**
 * Jobs of many accounts with random balances, caps, ceilings, failures, cancellations and expiries, while prices change;
 * then compares the ledger with the jobs.
 */
export async function moneyCampaign(terms: MoneyTerms): Promise<MoneyReport> {
  const harness = await startHarness({
    hosted: true,
    config: { jobs: { enabled: true, concurrency: 64, perAccount: 8 } },
  });
  try {
    return await new MoneyCampaign(harness, terms).run();
  } finally {
    await harness.stop();
  }
}

interface Payer extends Submitter {
  readonly creditNanousd: bigint;
}

class MoneyCampaign {
  readonly #harness: Harness;
  readonly #running: Running;
  readonly #terms: MoneyTerms;
  readonly #random: Random;
  readonly #payers: Payer[] = [];
  readonly #accepted: Job[] = [];
  readonly #refused = new Map<string, number>();
  readonly #faults: string[] = [];

  constructor(harness: Harness, terms: MoneyTerms) {
    this.#harness = harness;
    this.#running = harness.running;
    this.#terms = terms;
    this.#random = new Random(terms.seed);
  }

  async run(): Promise<MoneyReport> {
    for (let at = 0; at < this.#terms.accounts; at++) this.#payers.push(await this.#openPayer());
    const { jobs } = this.#terms;
    for (let at = 0; at < jobs; at += AT_ONCE) {
      if (at % (Math.ceil(jobs / AT_ONCE / PRICE_CHANGES) * AT_ONCE) === 0) await this.#changePrices();
      const round = Array.from({ length: Math.min(AT_ONCE, jobs - at) }, (_, each) => this.#submit(at + each));
      await Promise.all(round);
      this.#terms.onProgress?.(at + round.length);
    }
    await this.#ended();
    return this.#audit();
  }

  /** Some cannot pay for all their jobs, and some keys have a cap. */
  async #openPayer(): Promise<Payer> {
    const { jobs, accounts } = this.#terms;
    const unitNanousd = 200n * BigInt(Math.max(1, Math.ceil(jobs / accounts)));
    const creditNanousd = BigInt(this.#random.between(0, 400)) * unitNanousd;
    const capNanousd = this.#random.chance(0.3) ? BigInt(this.#random.between(10, 200)) * unitNanousd : null;
    const { accountId, keyId } = await this.#harness.mint({ creditNanousd, capNanousd });
    return { accountId, keyId, creditNanousd };
  }

  async #changePrices(): Promise<void> {
    const { config, sim } = this.#harness;
    const price = { input: this.#random.between(1, 900) * 1_000_000, output: this.#random.between(1, 900) * 1_000_000 };
    await this.#running.reload({ ...config, prices: new Map([...config.prices, [MODEL, price]]) }, [simHost(sim)]);
  }

  async #submit(number: number): Promise<void> {
    const payer = this.#random.pick(this.#payers);
    const { job, cancels } = this.#plan(number);
    try {
      const accepted = await submitJob(this.#running, payer, job);
      this.#accepted.push(accepted);
      const reader = { accountId: payer.accountId, keyId: null, personId: null };
      if (cancels) await this.#running.jobs.cancel(reader, accepted.id);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.status !== 402) throw error;
      this.#refused.set(error.kind, (this.#refused.get(error.kind) ?? 0) + 1);
    }
  }

  #plan(number: number): { job: Submitted; cancels: boolean } {
    const random = this.#random;
    const nowMs = this.#running.gateway.clock.nowMs();
    const soon = { expiresMs: nowMs + 300 };
    const label = `job ${number}`;
    const headers = random.chance(0.1) ? { 'x-gateway-max-cost-nanousd': String(random.between(1, 60_000)) } : {};
    const common = { label, headers, maxTokens: random.between(1, 60) };
    const cancels = random.chance(0.15);
    const kind = random.below(10);
    if (kind === 0) return { job: { ...common, terms: { expiresMs: nowMs - 1 } }, cancels };
    if (kind === 1) return { job: { ...common, terms: soon, sim: { status: 503 } }, cancels };
    if (kind === 2) return { job: { ...common, sim: { status: 400 } }, cancels };
    if (kind === 3) return { job: { ...common, terms: soon, sim: { cutAtByte: random.between(0, 200) } }, cancels };
    if (kind === 4) return { job: { ...common, terms: { notBeforeMs: nowMs + random.between(1, 200) } }, cancels };
    return { job: { ...common, sim: { words: random.between(1, 60) } }, cancels };
  }

  /** One after the other: waiting jobs start as others end. */
  async #ended(): Promise<void> {
    for (const { id, accountId } of this.#accepted) {
      const reader = { accountId, keyId: null, personId: null };
      const job = await this.#running.jobs.wait(reader, id, 60_000);
      if (!(FINAL_JOB_STATES as readonly string[]).includes(job.state)) this.#faults.push(`Job ${id} is ${job.state}.`);
    }
  }

  async #audit(): Promise<MoneyReport> {
    const { books } = this.#running;
    const states = new Map<string, number>();
    const chargedOf = new Map<bigint, bigint>();
    const calls = new Set<bigint>();
    const versions = new Set<string>();
    for (const { id, accountId } of this.#accepted) {
      const job = (await books.store.jobs.find(id, accountId))!;
      states.set(job.state, (states.get(job.state) ?? 0) + 1);
      versions.add(job.priceVersion);
      chargedOf.set(accountId, (chargedOf.get(accountId) ?? 0n) + (job.costNanousd ?? 0n));
      if (job.callId !== null && calls.has(job.callId)) this.#faults.push(`Two jobs have the call ${job.callId}.`);
      if (job.callId !== null) calls.add(job.callId);
      await this.#auditJob(job);
    }
    for (const payer of this.#payers) await this.#auditPayer(payer, chargedOf.get(payer.accountId) ?? 0n);
    const { violations, openHolds } = await books.ledger.verify();
    this.#faults.push(...violations);
    if (openHolds > 0) this.#faults.push(`${openHolds} holds are open.`);
    return {
      accepted: this.#accepted.length,
      refused: this.#refused,
      states,
      priceVersions: versions.size,
      chargedNanousd: [...chargedOf.values()].reduce((sum, each) => sum + each, 0n),
      faults: this.#faults,
    };
  }

  /** A job that succeeded has a stored response, and its receipt names the same cost. */
  async #auditJob(job: Job): Promise<void> {
    const { books, jobs } = this.#running;
    const cost = job.costNanousd ?? 0n;
    const receipt = job.callId === null ? null : await books.store.findReceipt(job.callId, job.accountId);
    if (cost !== (receipt?.costNanousd ?? 0n))
      this.#faults.push(`Job ${job.id}: ${cost} is not what its receipt says.`);
    if (job.state !== 'succeeded') return;
    const { status, lines } = await jobs.result({ accountId: job.accountId, keyId: null, personId: null }, job.id);
    if (status !== 200 || costOfLines(lines) !== cost)
      this.#faults.push(`Job ${job.id}: its response names another cost.`);
    if (receipt?.state !== 'settled' || receipt.priceVersion !== job.priceVersion)
      this.#faults.push(`Job ${job.id}: its receipt is ${receipt?.state}, at the prices ${receipt?.priceVersion}.`);
  }

  async #auditPayer({ accountId, creditNanousd }: Payer, chargedNanousd: bigint): Promise<void> {
    const account = (await this.#running.books.store.findAccount(accountId))!;
    const { balanceNanousd, heldNanousd, reservedNanousd } = account;
    if (heldNanousd !== 0n || reservedNanousd !== 0n)
      this.#faults.push(`Account ${accountId} has ${heldNanousd} held and ${reservedNanousd} reserved.`);
    if (balanceNanousd !== creditNanousd - chargedNanousd)
      this.#faults.push(`Account ${accountId} has ${balanceNanousd}, not ${creditNanousd - chargedNanousd}.`);
  }
}
