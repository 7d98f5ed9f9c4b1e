import type { Random } from '../../test/random.ts';
import { until } from '../../test/until.ts';
import { withinReason } from '../cycle-timeout.ts';
import { type ClientCall, Load } from '../kill/load.ts';
import { type Audit, Auditor } from './audit.ts';
import { STATEMENT } from './database-link.ts';
import { CLIENTS, IN_REAPER, MOMENTS, type Moment, type Plan } from './moments.ts';
import type { Replica } from './replica.ts';
import type { ReplicaKey, World } from './world.ts';

/** What one kill hit. */
export interface Kill {
  readonly moment: string;
  readonly inFlight: number;
  readonly voided: number;
  readonly settledUnseen: number;
  readonly seen: number;
  readonly faults: readonly string[];
}

interface KillTerms {
  readonly kills: number;
  readonly random: Random;
  /** Whether dead processes are left alone until their time is really over, instead of moving the clock. */
  isPatient?(cycle: number): boolean;
  onKill?(kill: Kill, number: number): void;
}

const CREDIT_NANOUSD = 1_000_000_000_000n;

/** Three accounts, each with one key without a cap and one with a cap. */
export async function openKeys(world: World): Promise<{ keys: ReplicaKey[]; auditor: Auditor }> {
  const keys: ReplicaKey[] = [];
  for (let account = 0; account < 3; account++) {
    const free = await world.openKey({ creditNanousd: CREDIT_NANOUSD });
    const terms = { creditNanousd: 0n, capNanousd: CREDIT_NANOUSD, account: free.accountId };
    keys.push(free, await world.openKey(terms));
  }
  return { keys, auditor: new Auditor(world, keys, CREDIT_NANOUSD) };
}

/** Kills two replicas at a time, each at a moment of its own, and compares the ledger with what clients saw. */
export async function killCampaign(world: World, terms: KillTerms): Promise<Kill[]> {
  const { kills, random, onKill } = terms;
  const { keys, auditor } = await openKeys(world);
  const done: Kill[] = [];
  const pairs = pairsOfMoments();
  for (let cycle = 0; done.length < kills; cycle++) {
    const isPatient = terms.isPatient?.(cycle) ?? false;
    const work = new Cycle({ world, keys, auditor, random, isPatient, name: `kill${done.length}` });
    for (const kill of await withinReason(work.run(pairs[cycle % pairs.length]!))) {
      onKill?.(kill, done.length);
      done.push(kill);
    }
  }
  return done;
}

/** Null: the second is killed while it cleans up after the first. */
function pairsOfMoments(): (readonly [Moment, Moment | null])[] {
  const held = MOMENTS.find(({ leaves }) => leaves === 'open holds')!;
  const pairs = MOMENTS.flatMap((moment, at) => (at % 2 === 0 ? [[moment, MOMENTS[at + 1]!] as const] : []));
  return [...pairs, [held, null]];
}

interface CycleTerms {
  readonly world: World;
  readonly keys: readonly ReplicaKey[];
  readonly auditor: Auditor;
  readonly random: Random;
  readonly isPatient: boolean;
  readonly name: string;
}

/** A replica under load that may be killed. */
interface Victim {
  readonly replica: Replica;
  readonly moment: string;
  readonly leaves: Moment['leaves'];
  readonly load: Load;
  readonly struck: Promise<void>;
  readonly strike: () => void;
  inFlight: number;
}

class Cycle {
  readonly #terms: CycleTerms;
  readonly #bystanders = new Map<Replica, Load>();
  readonly #epochs = new Map<Replica, bigint>();

  constructor(terms: CycleTerms) {
    this.#terms = terms;
  }

  async run([firstMoment, secondMoment]: readonly [Moment, Moment | null]): Promise<Kill[]> {
    const { world, random } = this.#terms;
    const at = random.below(world.replicas.length);
    const [first, second, third] = [...world.replicas.slice(at), ...world.replicas.slice(0, at)] as [
      Replica,
      Replica,
      Replica,
    ];
    world.sim.reset();
    for (const replica of world.replicas) this.#epochs.set(replica, await world.epochOf(replica));
    for (const replica of secondMoment === null ? [second, third] : [third]) this.#bystand(replica);
    const moments = secondMoment === null ? [firstMoment] : [firstMoment, secondMoment];
    const victims = await Promise.all(moments.map((moment, n) => this.#attack([first, second][n]!, moment)));
    await Promise.all(victims.map(({ struck }) => struck));
    if (secondMoment === null) victims.push(await this.#killReaper(first));
    for (const load of this.#bystanders.values()) load.cease();
    await Promise.all([
      ...victims.map(({ load }) => load.finished),
      ...[...this.#bystanders.values()].map((one) => one.finished),
    ]);
    const restarted = Promise.all(victims.map(({ replica }) => replica.start()));
    const audit = await this.#audit(victims);
    await restarted;
    return this.#judge(victims, audit);
  }

  /** Ordinary calls, one after the other, on a replica that is not killed. */
  #bystand(replica: Replica): void {
    this.#bystanders.set(
      replica,
      this.#load(replica, { repeat: true, script: () => ({ words: 2 }) }, () => undefined),
    );
  }

  #load(replica: Replica, plan: Plan, strike: () => void): Load {
    const { world, keys, name } = this.#terms;
    return new Load({
      url: replica.url,
      keys,
      clients: CLIENTS,
      repeat: plan.repeat ?? false,
      name: `${name}-${world.replicas.indexOf(replica)}`,
      script: plan.script,
      onEvent: (event) => {
        if (plan.strikesAt?.(event) === true) strike();
      },
    });
  }

  async #attack(replica: Replica, moment: Moment): Promise<Victim> {
    const { world, random, name } = this.#terms;
    const { promise: struck, resolve } = Promise.withResolvers<void>();
    let victim: Victim | null = null;
    let isOver = false;
    const strike = (): void => {
      if (isOver) return;
      isOver = true;
      replica.signal('SIGKILL');
      if (victim !== null) victim.inFlight = victim.load.underWay.size;
      victim?.load.cease();
      resolve(replica.ended);
    };
    const number = world.replicas.indexOf(replica);
    const scene = {
      world,
      victim: replica,
      random,
      gate: `${name}-gate-${number}`,
      shut: `${name}-shut-${number}`,
      strike,
    };
    const plan = await moment.plan(scene);
    const load = this.#load(replica, plan, strike);
    victim = { replica, moment: moment.name, leaves: moment.leaves, load, struck, strike, inFlight: 0 };
    await plan.bringAbout?.();
    return victim;
  }

  /** Kills the process that is about to void the holds of the dead ones. */
  async #killReaper(dead: Replica): Promise<Victim> {
    const { world } = this.#terms;
    const { promise: struck, resolve } = Promise.withResolvers<Replica>();
    const candidates = [...this.#bystanders.keys()];
    for (const replica of candidates) {
      replica.database.stopBefore(STATEMENT.void, () => {
        for (const other of candidates) if (other !== replica) other.database.pass();
        replica.signal('SIGKILL');
        resolve(replica);
      });
    }
    await world.takeForSilent([this.#epochs.get(dead)!]);
    const replica = await struck;
    const load = this.#bystanders.get(replica)!;
    this.#bystanders.delete(replica);
    const inFlight = load.underWay.size;
    load.cease();
    await replica.ended;
    return {
      replica,
      moment: IN_REAPER,
      leaves: undefined,
      load,
      struck: replica.ended,
      strike: () => undefined,
      inFlight,
    };
  }

  async #audit(victims: readonly Victim[]): Promise<Audit> {
    const { world, auditor, isPatient } = this.#terms;
    const dead = victims.map(({ replica }) => this.#epochs.get(replica)!);
    const calls = [...victims.map(({ load }) => load), ...this.#bystanders.values()].flatMap(({ calls }) => calls);
    const [reader] = this.#bystanders.keys();
    return auditor.audit(calls, reader!, () => (isPatient ? Promise.resolve() : world.takeForSilent(dead)));
  }

  #judge(victims: readonly Victim[], audit: Audit): Kill[] {
    const others = [...this.#bystanders.values()].flatMap(({ refusals, calls }) => [
      ...refusals,
      ...calls.filter(({ costNanousd }) => costNanousd === null).map(({ label }) => `${label} of a survivor failed`),
    ]);
    return victims.map(({ moment, leaves, load, inFlight }, at) => {
      const count = (labels: ReadonlySet<string>) => load.calls.filter(({ label }) => labels.has(label)).length;
      const [voided, settledUnseen] = [count(audit.voided), count(audit.settledUnseen)];
      const missed =
        (leaves === 'open holds' && voided === 0) || (leaves === 'settled calls' && settledUnseen === 0)
          ? [`The blow ${moment} hit nothing: ${voided} voided, ${settledUnseen} settled unseen`]
          : [];
      const faults = [...load.refusals, ...missed, ...(at === 0 ? [...audit.faults, ...others] : [])];
      return { moment, inFlight, voided, settledUnseen, seen: seenOf(load.calls), faults };
    });
  }
}

export function seenOf(calls: readonly ClientCall[]): number {
  return calls.filter(({ costNanousd }) => costNanousd !== null).length;
}

/** Every replica answers and would admit calls. */
export function allReady(world: World): Promise<void> {
  const isReady = async ({ url }: Replica) => {
    const response = await fetch(`${url}/readyz`);
    await response.arrayBuffer();
    return response.status === 200;
  };
  return until(async () => (await Promise.all(world.replicas.map(isReady))).every(Boolean), 'every replica is ready');
}
