import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { compileCacheVariable } from '../../src/kit/compile-cache.ts';
import { startSim } from '../../src/sim/sim.ts';
import type { Sim } from '../../src/sim/sim-handle.ts';
import { Random } from '../../test/random.ts';
import { withinReason } from '../cycle-timeout.ts';
import { diskFolder } from '../disk-folder.ts';
import { scriptOf } from '../programs.ts';
import type { JobRow, PayerName, VictimAnswer, VictimRequest, VictimTerms } from './messages.ts';
import { KILL_POINTS, type KillPoint } from './points.ts';

interface KillTerms {
  readonly kills: number;
  readonly seed: number;
  /** PostgreSQL databases, one for each lane; absent: SQLite. */
  readonly storeUrls?: readonly string[];
  /** Ledgers that are worked on at the same time; each does its share of the kills. */
  readonly lanes?: number;
  /** Gateways at a time; several need PostgreSQL. */
  readonly replicas?: number;
  onKill?(kill: Kill, number: number): void;
}

interface Kill {
  readonly point: KillPoint;
  /** Jobs whose submission was answered before the kill. */
  readonly acknowledged: number;
  /** False if another gateway reached the awaited step first, so that this one was idle when it was killed. */
  readonly isHit: boolean;
}

export interface KillReport {
  readonly kills: readonly Kill[];
  readonly jobs: number;
  /** How many jobs ended in each state, by what was asked for if the outcome is unknown. */
  readonly states: ReadonlyMap<string, number>;
  readonly chargedNanousd: bigint;
  readonly faults: readonly string[];
}

/** Jobs of one kill, half of which may be run twice. */
const JOBS_PER_KILL = 6;

/** How long a gateway may take to reach the point at which it ends itself, and how often it then gets another job. */
const PATIENCE_MS = 30_000;
const NUDGE_MS = 500;

/** Kills a gateway at each point of a job's life, again and again on the same ledgers, and compares what is left. */
export async function jobKillCampaign(terms: KillTerms): Promise<KillReport> {
  const { lanes = 1 } = terms;
  enableCompileCache();
  const reports = await Promise.all(Array.from({ length: lanes }, (_, lane) => runLane(terms, lane)));
  const states = new Map<string, number>();
  for (const [state, count] of reports.flatMap((report) => [...report.states]))
    states.set(state, (states.get(state) ?? 0) + count);
  return {
    kills: reports.flatMap(({ kills }) => kills),
    jobs: reports.reduce((sum, { jobs }) => sum + jobs, 0),
    states,
    chargedNanousd: reports.reduce((sum, { chargedNanousd }) => sum + chargedNanousd, 0n),
    faults: reports.flatMap(({ faults }) => faults),
  };
}

async function runLane(terms: KillTerms, lane: number): Promise<KillReport> {
  const folder = diskFolder('tollgate-jobs-');
  const sim = await startSim();
  const campaign = new JobKillCampaign(terms, lane, folder, sim);
  try {
    return await campaign.run();
  } finally {
    await campaign.end();
    await sim.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

class JobKillCampaign {
  readonly #terms: KillTerms;
  readonly #lane: number;
  readonly #sim: Sim;
  readonly #random: Random;
  readonly #victims: Victim[];
  readonly #acknowledged: string[] = [];
  readonly #kills: Kill[] = [];
  readonly #faults: string[] = [];
  #payer: PayerName = { accountId: '', keyId: '' };
  #creditNanousd = 0n;

  constructor(terms: KillTerms, lane: number, folder: string, sim: Sim) {
    const { replicas = 1, storeUrls } = terms;
    const storeUrl = storeUrls?.[lane] ?? null;
    this.#terms = terms;
    this.#lane = lane;
    this.#sim = sim;
    this.#random = new Random(terms.seed + lane);
    const masterKey = randomBytes(32).toString('base64');
    this.#victims = Array.from(
      { length: replicas },
      (_, at) => new Victim({ folder: mkdtempSync(join(folder, `${at}-`)), hostUrl: sim.url, storeUrl, masterKey }),
    );
  }

  async run(): Promise<KillReport> {
    for (const victim of this.#victims) await victim.start();
    const opened = await this.#victims[0]!.ask({ kind: 'open' }, 'account');
    this.#payer = opened.payer;
    this.#creditNanousd = BigInt(opened.creditNanousd);
    const { kills, lanes = 1 } = this.#terms;
    for (let number = this.#lane; number < kills; number += lanes) {
      const kill = await withinReason(this.#cycle(number));
      this.#kills.push(kill);
      this.#terms.onKill?.(kill, number);
    }
    const { rows, balanceNanousd, boundNanousd, faults } = await withinReason(
      this.#victims[0]!.ask({ kind: 'audit', accountId: this.#payer.accountId }, 'audit'),
    );
    this.#faults.push(...faults);
    return this.#report(rows, BigInt(balanceNanousd), BigInt(boundNanousd));
  }

  async end(): Promise<void> {
    for (const victim of this.#victims) await victim.stop();
  }

  /** Submits jobs to a gateway that will end itself, and starts it again. */
  async #cycle(number: number): Promise<Kill> {
    const point = KILL_POINTS[number % KILL_POINTS.length]!;
    const victim = this.#victims[number % this.#victims.length]!;
    await victim.ask({ kind: 'arm', point, left: this.#random.between(1, 2) }, 'armed');
    let acknowledged = 0;
    while (acknowledged < JOBS_PER_KILL && (await this.#submit(victim, number, acknowledged))) acknowledged++;
    const startedMs = performance.now();
    // Other gateways may have run all of the jobs: then it needs another one to reach the point.
    while (!(await victim.hasEndedWithin(NUDGE_MS)) && performance.now() - startedMs < PATIENCE_MS) {
      if (await this.#submit(victim, number, acknowledged)) acknowledged++;
    }
    const isHit = await victim.killIfAlive();
    await victim.start();
    return { point, acknowledged, isHit };
  }

  /** False if the gateway ended before it had accepted the job. */
  async #submit(victim: Victim, number: number, at: number): Promise<boolean> {
    const onUnknown = at % 2 === 0 ? 'fail' : 'retry';
    const label = `${onUnknown} ${number}-${at}`;
    if (victim.hasEnded) return false;
    const submitted = victim.ask({ kind: 'submit', payer: this.#payer, label, onUnknown }, 'accepted');
    if ((await Promise.race([submitted.catch(() => null), victim.ended])) == null) return false;
    this.#acknowledged.push(label);
    return true;
  }

  #report(rows: readonly JobRow[], balanceNanousd: bigint, boundNanousd: bigint): KillReport {
    const states = new Map<string, number>();
    let chargedNanousd = 0n;
    const runs = this.#runsByLabel();
    for (const row of rows) {
      const kind = `${row.label.split(' ', 1)[0]}: ${row.state}`;
      states.set(kind, (states.get(kind) ?? 0) + 1);
      chargedNanousd += BigInt(row.costNanousd);
      this.#faults.push(...faultsOf(row, runs.get(row.label) ?? 0));
    }
    const found = new Set(rows.map(({ label }) => label));
    for (const label of this.#acknowledged) if (!found.has(label)) this.#faults.push(`${label} is lost`);
    if (found.size < rows.length) this.#faults.push('A job was accepted twice');
    if (boundNanousd !== 0n) this.#faults.push(`${boundNanousd} are held or reserved`);
    if (balanceNanousd !== this.#creditNanousd - chargedNanousd) this.#faults.push(`The balance is ${balanceNanousd}`);
    return { kills: this.#kills, jobs: rows.length, states, chargedNanousd, faults: this.#faults };
  }

  /** How often the host was asked for each job. */
  #runsByLabel(): Map<string, number> {
    const runs = new Map<string, number>();
    for (const { body } of this.#sim.calls) {
      const { messages } = JSON.parse(body) as { messages: { content: string }[] };
      const label = messages[0]!.content;
      runs.set(label, (runs.get(label) ?? 0) + 1);
    }
    return runs;
  }
}

/** What is wrong about a job after all kills. */
function faultsOf({ label, state, errorCode, costNanousd, resultNanousd }: JobRow, runs: number): string[] {
  const mayRunTwice = label.startsWith('retry');
  const faults: string[] = [];
  const isUnknown = state === 'failed' && errorCode === 'job_outcome_unknown' && !mayRunTwice;
  if (state !== 'succeeded' && !isUnknown) faults.push(`${label} is ${state} (${errorCode})`);
  if (runs > 1 && !mayRunTwice) faults.push(`${label} was run ${runs} times`);
  if (state === 'succeeded' && runs === 0) faults.push(`${label} succeeded without a host`);
  if (state === 'succeeded' && resultNanousd !== costNanousd)
    faults.push(`${label}: its response costs ${resultNanousd}`);
  if (state !== 'succeeded' && costNanousd !== '0') faults.push(`${label} is charged without a response`);
  return faults;
}

type AnswerOf<Kind extends VictimAnswer['kind']> = Extract<VictimAnswer, { kind: Kind }>;

/** A gateway in a process of its own, which can be started again. */
class Victim {
  readonly #terms: VictimTerms;
  #child: ChildProcess | null = null;
  ended: Promise<void> = Promise.resolve();
  hasEnded = true;

  constructor(terms: VictimTerms) {
    this.#terms = terms;
  }

  async start(): Promise<void> {
    const env = { ...process.env, ...compileCacheVariable() };
    const child = fork(scriptOf('campaigns/jobs/victim.ts'), [JSON.stringify(this.#terms)], { env });
    this.#child = child;
    this.hasEnded = false;
    this.ended = new Promise((done) => {
      child.once('exit', () => {
        this.hasEnded = true;
        done();
      });
    });
    const end = (): void => void child.kill('SIGKILL');
    process.once('exit', end);
    void this.ended.then(() => process.removeListener('exit', end));
    await this.#next('ready');
  }

  /** One request at a time. */
  ask<Kind extends VictimAnswer['kind']>(request: VictimRequest, kind: Kind): Promise<AnswerOf<Kind>> {
    const answer = this.#next(kind);
    this.#child!.send(request, () => {});
    return answer;
  }

  #next<Kind extends VictimAnswer['kind']>(kind: Kind): Promise<AnswerOf<Kind>> {
    const child = this.#child!;
    return new Promise((done, fail) => {
      const over = (): void => fail(new Error('The gateway ended.'));
      child.once('exit', over);
      child.once('message', (said: VictimAnswer) => {
        child.removeListener('exit', over);
        if (said.kind === kind) done(said as AnswerOf<Kind>);
        else fail(new Error('message' in said ? said.message : `It answered ${said.kind}.`));
      });
    });
  }

  /** Waits for its end, at most for this time. */
  async hasEndedWithin(ms: number): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    await Promise.race([this.ended, late]);
    clearTimeout(timer);
    return this.hasEnded;
  }

  /** Kills it if it has not ended; returns true if that was not needed. */
  async killIfAlive(): Promise<boolean> {
    const wasOver = this.hasEnded;
    if (!wasOver) this.#child?.kill('SIGKILL');
    await this.ended;
    return wasOver;
  }

  async stop(): Promise<void> {
    if (!this.hasEnded) this.#child!.send({ kind: 'stop' } satisfies VictimRequest, () => {});
    await this.ended;
  }
}
