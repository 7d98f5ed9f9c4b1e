import { LIMITS } from '../../src/limits.ts';
import type { SimScript } from '../../src/sim/sim.ts';
import type { Random } from '../../test/random.ts';
import { until } from '../../test/until.ts';
import type { LoadEvent } from '../kill/load.ts';
import { STATEMENT } from './database-link.ts';
import type { Replica } from './replica.ts';
import type { World } from './world.ts';

/** Clients of each replica; every other one streams. */
export const CLIENTS = 6;
const STREAMS = CLIENTS / 2;

interface Scene {
  readonly world: World;
  readonly victim: Replica;
  readonly random: Random;
  /** Gates of the host at which only this victim's calls wait. */
  readonly gate: string;
  readonly shut: string;
  /** Kills the victim, once. */
  strike(): void;
}

/** A plan for one kill: how the host treats the victim's calls, and when to kill. */
export interface Plan {
  readonly repeat?: boolean;
  script(stream: boolean): SimScript;
  /** Kills at once when it returns true. */
  strikesAt?(event: LoadEvent): boolean;
  /** What is done to cause the moment, once the calls are running. */
  bringAbout?(): Promise<void>;
}

export interface Moment {
  readonly name: string;
  /** The outcome of the calls it hit, if that is certain. */
  readonly leaves?: 'open holds' | 'settled calls';
  plan(scene: Scene): Plan | Promise<Plan>;
}

const short = (random: Random) => (): SimScript => ({ words: random.between(1, 3) });

const afterHold: Moment = {
  name: 'after the hold',
  leaves: 'open holds',
  plan: ({ victim, random, strike }) => {
    victim.database.stopAfter(STATEMENT.hold, strike);
    return { script: short(random) };
  },
};

const beforeHost: Moment = {
  name: 'before the host is called',
  leaves: 'open holds',
  plan: ({ victim, random, strike }) => {
    victim.host.shutBeforeCall(strike);
    return { script: short(random) };
  },
};

const midStream: Moment = {
  name: 'in the middle of streams',
  leaves: 'open holds',
  plan: ({ world: { sim }, random, gate, shut }) => {
    let pieces = random.between(1, STREAMS);
    return {
      script: (stream) => (stream ? { words: 60, tokensPerChunk: 1, gate } : { gateHead: shut }),
      strikesAt: (event) => event === 'piece' && --pieces <= 0,
      bringAbout: async () => {
        await Promise.all([sim.waitForGate(gate, STREAMS), sim.waitForGate(shut, CLIENTS - STREAMS)]);
        sim.release(gate, STREAMS * 5);
      },
    };
  },
};

/** The host has reported usage, and nothing has been settled. */
const afterUsage: Moment = {
  name: 'after the usage',
  leaves: 'open holds',
  plan: async ({ world, victim, shut, strike }) => {
    const chunks = await chunksOfStream(world);
    victim.host.whenHostSays('"usage":{"', strike);
    return { script: (stream) => (stream ? { words: 3, hang: chunks - 1 } : { gateHead: shut }) };
  },
};

const beforeSettle: Moment = {
  name: 'before the settle',
  leaves: 'open holds',
  plan: ({ victim, random, strike }) => {
    victim.database.stopBefore(STATEMENT.settle, strike);
    return { script: short(random) };
  },
};

const afterSettle: Moment = {
  name: 'after the settle',
  leaves: 'settled calls',
  plan: ({ victim, random, strike }) => {
    victim.database.stopAfter(STATEMENT.settle, strike);
    return { script: short(random) };
  },
};

/** It was asked to stop and admits no call; one of its calls has ended normally, the others wait for their host. */
const inDrain: Moment = {
  name: 'in drain',
  leaves: 'open holds',
  plan: ({ world: { sim }, victim, gate }) => ({
    script: () => ({ words: 2, gateHead: gate }),
    strikesAt: (event) => event === 'terminal',
    bringAbout: async () => {
      await sim.waitForGate(gate, CLIENTS);
      victim.signal('SIGTERM');
      await until(() => isLeaving(victim), 'the replica admits nobody any more');
      sim.release(gate);
    },
  }),
};

const anyMoment: Moment = {
  name: 'at any moment',
  plan: ({ random }) => {
    let events = random.between(1, 80);
    return {
      repeat: true,
      script: () => ({ words: random.between(1, 20), chunkDelayMs: 0 }),
      strikesAt: () => --events <= 0,
    };
  },
};

/** The replica that finds the holds of another; its plan is in `kill-campaign.ts`. */
export const IN_REAPER = 'in the reaper';

/** In turns, in pairs: two replicas are killed, each at its own moment, and one survives. */
export const MOMENTS: readonly Moment[] = [
  afterHold,
  beforeSettle,
  midStream,
  afterSettle,
  beforeHost,
  anyMoment,
  afterUsage,
  inDrain,
];

const MESSAGES = [{ role: 'user', content: 'hello' }];

/** Including the terminator. */
async function chunksOfStream({ sim }: World): Promise<number> {
  const ask = {
    model: 'sim-gpt',
    messages: MESSAGES,
    stream: true,
    stream_options: { include_usage: true },
    sim: { words: 3 },
  };
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${sim.url}/v1/chat/completions`, {
    method: 'POST',
    headers,
    body: JSON.stringify(ask),
  });
  return (await response.text()).split('\n\n').length - 1;
}

async function isLeaving({ url }: Replica): Promise<boolean> {
  const signal = AbortSignal.timeout(LIMITS.shutdownReadMs);
  const ready = await fetch(`${url}/readyz`, { signal }).catch(() => null);
  await ready?.arrayBuffer();
  return ready === null || ready.status === 503;
}
