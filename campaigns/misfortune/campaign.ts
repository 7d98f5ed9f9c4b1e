import { withinReason } from '../cycle-timeout.ts';
import type { Misfortune } from './misfortune.ts';
import { Round } from './round.ts';
import { Stage } from './stage.ts';

interface CampaignTerms {
  readonly misfortunes: readonly Misfortune[];
  readonly rounds: number;
  /** Number of the first round; a round depends on its number and the seed only. */
  readonly from?: number;
  readonly seed: number;
  /** Rounds that run at the same time. */
  readonly lanes: number;
  /** Leaves out what takes long, for a suite. */
  readonly isShort?: boolean;
  onRound?(played: Played): void;
}

/** The result of one round. */
export interface Played {
  readonly number: number;
  readonly misfortune: string;
  readonly calls: number;
  /** Calls whose last byte a client saw. */
  readonly seen: number;
  readonly refusedCalls: number;
  readonly refusedStarts: number;
  readonly restarts: number;
  readonly seconds: number;
  readonly faults: readonly string[];
}

export interface Campaign {
  readonly played: readonly Played[];
  /** Misfortunes that this machine cannot bring about, each with the reason. */
  readonly leftOut: readonly string[];
}

/** Causes one misfortune after the other for gateways under load, and compares their ledgers with what clients saw. */
export async function misfortuneCampaign(terms: CampaignTerms): Promise<Campaign> {
  const reasons = terms.misfortunes.map((misfortune) => ({ misfortune, why: misfortune.whyNot() }));
  const leftOut = reasons.flatMap(({ misfortune, why }) => (why === null ? [] : [`${misfortune.name}: ${why}`]));
  const possible = reasons.filter(({ why }) => why === null).map(({ misfortune }) => misfortune);
  if (possible.length === 0) return { played: [], leftOut };
  const stage = await Stage.open();
  try {
    return { played: await playAll(stage, possible, terms), leftOut };
  } finally {
    await stage.close();
  }
}

async function playAll(stage: Stage, possible: readonly Misfortune[], terms: CampaignTerms): Promise<Played[]> {
  const { rounds, from = 0, lanes, onRound } = terms;
  const played: Played[] = [];
  let next = from;
  const lane = async (): Promise<void> => {
    while (next < from + rounds) {
      const number = next++;
      const done = await play(stage, possible[number % possible.length]!, number, terms);
      onRound?.(done);
      played.push(done);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return played.toSorted((a, b) => a.number - b.number);
}

const SEEDS_APART = 1_000_003;

async function play(
  stage: Stage,
  misfortune: Misfortune,
  number: number,
  { seed, isShort = false }: CampaignTerms,
): Promise<Played> {
  const round = new Round(stage, seed * SEEDS_APART + number, `round${number}`, isShort);
  const startedMs = performance.now();
  try {
    await withinReason(misfortune.play(round));
  } catch (error) {
    round.fault(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
  const seen = round.calls.filter(({ costNanousd }) => costNanousd !== null).length;
  if (seen === 0) round.fault('no client saw the end of a call, so the round shows nothing');
  const { refusedCalls, refusedStarts, restarts, faults } = round;
  const seconds = (performance.now() - startedMs) / 1000;
  const figures = { calls: round.calls.length, seen, refusedCalls, refusedStarts, restarts, seconds };
  return { number, misfortune: misfortune.name, ...figures, faults: abridged(faults) };
}

const FAULTS_SHOWN = 5;

/** One fault may show in every call of a round. */
function abridged(faults: readonly string[]): string[] {
  if (faults.length <= FAULTS_SHOWN) return [...faults];
  return [...faults.slice(0, FAULTS_SHOWN), `and ${faults.length - FAULTS_SHOWN} more`];
}
