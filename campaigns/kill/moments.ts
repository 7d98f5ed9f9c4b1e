import type { SimScript } from '../../src/sim/sim.ts';
import type { Random } from '../../test/random.ts';
import { nextTurn } from '../../test/until.ts';
import type { LoadEvent } from './load.ts';
import type { World } from './world.ts';

/** Concurrent clients, and how many must be waiting for their last byte when the process is killed. */
export const CLIENTS = 28;
export const IN_FLIGHT_MIN = 20;

/** A plan for one kill: how the host behaves, and when to kill. */
interface Plan {
  readonly repeat: boolean;
  script(stream: boolean): SimScript;
  /** Kills at once when it returns true. */
  strikesAt(event: LoadEvent): boolean;
  /** What is done to cause the moment, besides waiting for the event. */
  prepare?(world: World, strike: () => void): Promise<void>;
}

export interface Moment {
  readonly name: string;
  plan(random: Random): Plan;
}

const STREAMS = CLIENTS / 2;

const GATE = 'kill';
/** A gate that is never opened. */
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

/** Every call has its hold, and no host has answered. */
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

/** All hosts answer at once, so that settlements queue up. The kill comes when one of the first responses has ended. */
const lastBytes: Moment = {
  name: 'when the first responses end',
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

/** The same, but the kill comes before that, while the store writes. */
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

/** Calls are arriving and being admitted. */
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

/** After this time no further write is expected. */
const TURNS_MAX = 20_000;

/** Waits until the store's log was written this often: its bytes are in the file, but perhaps not yet on the disk. */
async function writes(world: World, count: number): Promise<void> {
  let seen = world.logWrittenNs();
  let left = count;
  for (let turn = 0; turn < TURNS_MAX && left > 0; turn++) {
    await nextTurn();
    const writtenNs = world.logWrittenNs();
    if (writtenNs !== seen) left--;
    seen = writtenNs;
  }
}

/** In turns, so that even a few cycles include each of them. */
export const MOMENTS: readonly Moment[] = [lastBytes, settling, anyMoment, held, midStream, holding];
