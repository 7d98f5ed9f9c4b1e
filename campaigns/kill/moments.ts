import type { SimScript } from '../../src/sim/sim.ts';
import type { Random } from '../../test/random.ts';
import { nextTurn } from '../../test/until.ts';
import type { LoadEvent } from './load.ts';
import type { World } from './world.ts';

/** How many clients are at work, and how many must be waiting for their last byte when the blow falls. */
export const CLIENTS = 28;
export const IN_FLIGHT_MIN = 20;

/** A plan for one kill: how the host behaves, and when the blow falls. */
export interface Plan {
  readonly repeat: boolean;
  script(stream: boolean): SimScript;
  /** Strikes at once when it answers true. */
  strikesAt(event: LoadEvent): boolean;
  /** What is done, besides waiting for the event, to bring the moment about. */
  prepare?(world: World, strike: () => void): Promise<void>;
}

export interface Moment {
  readonly name: string;
  plan(random: Random): Plan;
}

const STREAMS = CLIENTS / 2;

const GATE = 'kill';
/** One that nobody opens. */
const SHUT = 'shut';

function countdown(left: number, what: LoadEvent | 'any'): (event: LoadEvent) => boolean {
  let remaining = left;
  return (event) => (what === 'any' || event === what) && --remaining <= 0;
}

const never = (): boolean => false;

const anyMoment: Moment = {
  name: 'at any moment',
  plan: (random) => ({
    repeat: true,
    script: () => ({ words: random.between(1, 30), chunkDelayMs: 0 }),
    strikesAt: countdown(random.between(1, 500), 'any'),
  }),
};

/** Every call has its hold, and no host has said a word. */
const held: Moment = {
  name: 'while every host is held back',
  plan: () => ({
    repeat: false,
    script: () => ({ gateHead: GATE }),
    strikesAt: never,
    prepare: async ({ sim }, strike) => {
      await sim.waitForGate(GATE, CLIENTS);
      strike();
    },
  }),
};

/** Streams have begun and are not over. */
const midStream: Moment = {
  name: 'in the middle of streams',
  plan: (random) => ({
    repeat: false,
    script: (stream) => (stream ? { words: 60, tokensPerChunk: 1, gate: GATE } : { gateHead: SHUT }),
    strikesAt: countdown(random.between(1, STREAMS), 'piece'),
    prepare: async ({ sim }) => {
      await Promise.all([sim.waitForGate(GATE, STREAMS), sim.waitForGate(SHUT, CLIENTS - STREAMS)]);
      sim.release(GATE, STREAMS * 5);
    },
  }),
};

/** All hosts answer at once, so that the settlements crowd: the blow falls with one of the first last bytes … */
const lastBytes: Moment = {
  name: 'with the first last bytes',
  plan: (random) => ({
    repeat: false,
    script: () => ({ words: random.between(1, 3), gateHead: GATE }),
    strikesAt: countdown(random.between(1, CLIENTS - IN_FLIGHT_MIN), 'terminal'),
    prepare: async ({ sim }) => {
      await sim.waitForGate(GATE, CLIENTS);
      sim.release(GATE, CLIENTS);
    },
  }),
};

/** … or before them, while the store writes. */
const settling: Moment = {
  name: 'while settles are written',
  plan: (random) => ({
    ...lastBytes.plan(random),
    prepare: async (world, strike) => {
      await world.sim.waitForGate(GATE, CLIENTS);
      world.sim.release(GATE, CLIENTS);
      await writes(world, random.between(1, 3));
      strike();
    },
  }),
};

/** The calls are arriving and being admitted. */
const holding: Moment = {
  name: 'while holds are written',
  plan: (random) => ({
    repeat: false,
    script: () => ({ gateHead: GATE }),
    strikesAt: never,
    prepare: async (world, strike) => {
      await writes(world, random.between(1, 3));
      strike();
    },
  }),
};

/** By then there will be no further write: a log that was folded into its file begins anew without growing. */
const TURNS_MAX = 20_000;

/** Waits until the store's log has grown so often: its bytes are written, but not yet known to be on the disk. */
async function writes(world: World, count: number): Promise<void> {
  let seen = world.logBytes();
  let left = count;
  for (let turn = 0; turn < TURNS_MAX && left > 0; turn++) {
    await nextTurn();
    const bytes = world.logBytes();
    if (bytes !== seen) left--;
    seen = bytes;
  }
}

/** By turns, so that every suite of a few cycles has each of them. */
export const MOMENTS: readonly Moment[] = [lastBytes, settling, anyMoment, held, midStream, holding];
