import type { Transport } from '../../src/config/config.ts';
import { startSim } from '../../src/sim/sim.ts';
import { Random } from '../../test/random.ts';
import { type Attack, perform, type Seen } from './attack.ts';
import { type AttackClass, complaintOf, isDeliberate, type Means } from './attack-class.ts';
import { BAD_BODIES } from './bad-bodies.ts';
import { BAD_HABITS } from './bad-habits.ts';
import { BROKEN_HEADS, ODD_TARGETS } from './broken-heads.ts';
import { FUZZED_BODIES } from './fuzzed-bodies.ts';
import type { Vitals } from './gateway.ts';
import { GatewayChild } from './gateway-child.ts';
import { SMUGGLING } from './smuggling.ts';

export const CLASSES: readonly AttackClass[] = [
  ...BROKEN_HEADS,
  ...ODD_TARGETS,
  ...SMUGGLING,
  ...BAD_BODIES,
  ...FUZZED_BODIES,
  ...BAD_HABITS,
];

interface Terms {
  /** The HTTP code under attack. */
  readonly transport: Transport;
  readonly requests: number;
  /** How many of them come before memory is first measured. */
  readonly warmUp: number;
  readonly seed: number;
  readonly connections: number;
  onProgress?(done: number, figures: Figures): void;
}

/** The results of the attacks of one class. */
export interface ClassFigures {
  sent: number;
  /** Connections closed without a response. */
  silent: number;
  /** Responses by status. */
  readonly statuses: Map<number, number>;
}

export interface Figures {
  readonly classes: ReadonlyMap<string, ClassFigures>;
  readonly faults: string[];
  deliberate: number;
}

export interface Report extends Figures {
  readonly warm: Vitals;
  readonly end: Vitals;
  readonly crashed: boolean;
  /** It exited when asked to: nothing kept it running. */
  readonly ended: boolean;
}

const FAULTS_KEPT = 50;

/** Attacks a gateway as often as asked, each time as the seed decides, and reports the results. */
export async function hostileCampaign(terms: Terms): Promise<Report> {
  const sim = await startSim({ callsKept: 0 });
  const gateway = await GatewayChild.start(sim.url, terms.transport);
  const figures: Figures = {
    classes: new Map(CLASSES.map(({ name }) => [name, { sent: 0, silent: 0, statuses: new Map() }])),
    faults: [],
    deliberate: 0,
  };
  try {
    await attackAll(gateway, figures, terms, 0, terms.warmUp);
    const warm = await gateway.vitals();
    await attackAll(gateway, figures, terms, terms.warmUp, terms.requests);
    const end = await gateway.vitals();
    const crashed = !gateway.isAlive;
    return { ...figures, warm, end, crashed, ended: await gateway.stop() };
  } finally {
    await gateway.stop();
    await sim.close();
  }
}

async function attackAll(
  gateway: GatewayChild,
  figures: Figures,
  terms: Terms,
  from: number,
  to: number,
): Promise<void> {
  const { port, key } = gateway.hello;
  const means: Means = { key: `authorization: Bearer ${key}` };
  let next = from;
  const work = async (): Promise<void> => {
    while (next < to && gateway.isAlive) {
      const at = next++;
      // A random source for each, so that one can be repeated without the others.
      const random = new Random(terms.seed * 1_000_003 + at);
      const kind = pickClass(random);
      const attack = kind.make(random, means);
      note(figures, kind, attack, await perform(port, attack), at);
      terms.onProgress?.(at + 1, figures);
    }
  };
  await Promise.all(Array.from({ length: terms.connections }, work));
}

const WEIGHT = CLASSES.reduce((sum, { weight }) => sum + weight, 0);

function pickClass(random: Random): AttackClass {
  let left = random.next() * WEIGHT;
  for (const each of CLASSES) {
    left -= each.weight;
    if (left < 0) return each;
  }
  return CLASSES.at(-1)!;
}

function note(figures: Figures, { name }: AttackClass, attack: Attack, seen: Seen, at: number): void {
  const row = figures.classes.get(name)!;
  row.sent++;
  if (seen.answers.length === 0) row.silent++;
  for (const answer of seen.answers) {
    row.statuses.set(answer.status, (row.statuses.get(answer.status) ?? 0) + 1);
    if (isDeliberate(answer)) figures.deliberate++;
  }
  const complaints = [
    seen.hung ? 'neither an answer nor an end' : null,
    ...seen.answers.map(complaintOf),
    attack.judge?.(seen.answers, seen.text) ?? null,
  ].filter((complaint) => complaint !== null);
  for (const complaint of complaints) {
    if (figures.faults.length < FAULTS_KEPT) figures.faults.push(`attack ${at} (${name}): ${complaint}`);
  }
}

/** Growth since the warm-up; a decrease counts as zero. */
export function growthBytes({ warm, end }: Report): number {
  return end.heapBytes + end.bufferBytes - warm.heapBytes - warm.bufferBytes;
}

const GROWTH_BYTES_MAX = 20 * 1024 * 1024;

/** Everything that is wrong; empty if nothing is. */
export function faultsOf(report: Report): string[] {
  const { end, crashed } = report;
  return [
    ...report.faults,
    ...(crashed ? ['The gateway ended.'] : []),
    ...(report.ended ? [] : ['The gateway did not end when it was told to.']),
    ...(end.openHolds === 0 && end.callsUnderWay === 0
      ? []
      : [`${end.openHolds} holds and ${end.callsUnderWay} calls are left.`]),
    ...end.violations,
    ...end.errors,
    ...(growthBytes(report) <= GROWTH_BYTES_MAX ? [] : [`${megabytes(growthBytes(report))} MB more are in use.`]),
  ];
}

export function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}
