import { Random } from '../../test/random.ts';
import { type StreamingWire, streamAnswer, wholeAnswer } from './answers.ts';
import { CARRIAGES, type Carriage, SILENCES } from './carriage.ts';
import type { Script } from './hostile-host.ts';
import { SPOILS, type Spoiled, type Verdict } from './spoil.ts';
import { WHOLE_SPOILS } from './whole.ts';
import { LANES, type Lane } from './world.ts';

/** One call and its host's behaviour, generated from the seed and its number. */
export interface Case {
  readonly number: number;
  readonly lane: Lane;
  readonly spoil: string;
  readonly carriage: string;
  readonly script: Script;
  readonly verdict: Verdict;
}

export function makeCase(seed: number, number: number, silent = false): Case {
  const random = new Random(Math.imul(seed, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b));
  const lane = pickLane(random);
  const { name: spoil, spoiled } = spoilFor(lane, random);
  const contentType = spoiled.contentType ?? 'text/event-stream';
  const carriage = weighted<Carriage>(silent ? SILENCES : CARRIAGES, random);
  const own = spoiled.verdict;
  // Where such a body ends is undefined, because it can be read in several ways.
  const body = own === 'either' ? { ...spoiled.body, finishByte: 0, endByte: 0 } : spoiled.body;
  const carried = carriage.carry(body, contentType, random);
  return {
    number,
    lane,
    spoil,
    carriage: carriage.name,
    script: carried.script,
    verdict: worse(own, carried.verdict),
  };
}

/** Mostly streams: a buffered response can be wrong in fewer ways. */
function pickLane(random: Random): Lane {
  const stream = random.chance(0.8);
  return random.pick(LANES.filter((lane) => lane.stream === stream));
}

function spoilFor(lane: Lane, random: Random): { name: string; spoiled: Spoiled } {
  if (lane.stream && !random.chance(0.03)) {
    const chosen = weighted(SPOILS, random);
    const answer = streamAnswer(lane.hostWire as StreamingWire, random);
    return { name: chosen.name, spoiled: chosen.spoil(answer, random) };
  }
  const chosen = weighted(WHOLE_SPOILS, random);
  return { name: chosen.name, spoiled: chosen.spoil(wholeAnswer(lane.hostWire, random), lane.hostWire, random) };
}

function worse(one: Verdict, other: Verdict): Verdict {
  if (one === 'broken' || other === 'broken') return 'broken';
  return one === 'either' || other === 'either' ? 'either' : 'whole';
}

function weighted<Item extends { readonly weight: number }>(items: readonly Item[], random: Random): Item {
  let at = random.next() * items.reduce((sum, { weight }) => sum + weight, 0);
  for (const item of items) {
    at -= item.weight;
    if (at < 0) return item;
  }
  return items.at(-1)!;
}
