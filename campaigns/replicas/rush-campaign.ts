import type { Random } from '../../test/random.ts';
import { RUSH_LIMITS, type Rush, type RushLimit, rush, worstNanousd } from './rush.ts';
import type { World } from './world.ts';

const AFFORDABLE_MAX = 150;

interface RushTerms {
  readonly rounds: number;
  readonly random: Random;
  onRush?(rush: Rush, round: number): void;
}

/** Each round has a rush against a balance, a key's cap and a person's cap, with money for some of the calls. */
export async function rushCampaign(world: World, { rounds, random, onRush }: RushTerms): Promise<Rush[]> {
  const worst = await worstNanousd(world);
  const done: Rush[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const limit of Object.keys(RUSH_LIMITS) as RushLimit[]) {
      const one = await rush(world, limit, random.between(1, AFFORDABLE_MAX), worst);
      done.push(one);
      onRush?.(one, round);
    }
  }
  return done;
}
