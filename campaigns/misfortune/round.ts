import { Random } from '../../test/random.ts';
import type { ClientCall } from '../kill/load.ts';
import { type Ending, judgeRefusal } from './gateway.ts';
import type { Stage } from './stage.ts';
import type { Traffic } from './traffic.ts';

/** Refusals of calls that any misfortune may cause: too little money, a ledger or process that takes no calls now. */
const USUAL_REFUSALS = [
  '402 insufficient_quota',
  '402 key_spend_cap_exceeded',
  '503 store_unavailable',
  '503 shutting_down',
  '503 overloaded',
];

/** One misfortune under load: what happened, and everything that was wrong. */
export class Round {
  readonly stage: Stage;
  /** Decides what happens. */
  readonly random: Random;
  /** Decides what is called. It is separate from the other one, because the number of calls in a round depends on the machine. */
  readonly callRandom: Random;
  /** Unique in its campaign. */
  readonly name: string;
  readonly faults: string[] = [];
  readonly calls: ClientCall[] = [];
  refusedCalls = 0;
  refusedStarts = 0;
  restarts = 0;

  /** Whether it leaves out what takes long. */
  readonly isShort: boolean;

  constructor(stage: Stage, seed: number, name: string, isShort: boolean) {
    this.stage = stage;
    this.isShort = isShort;
    this.random = new Random(seed);
    this.callRandom = new Random(this.random.below(2 ** 31));
    this.name = name;
  }

  fault(text: string): void {
    this.faults.push(text);
  }

  /** A process that refused to start or to continue, which is allowed. */
  refused(ending: Ending, where: string): void {
    this.refusedStarts++;
    this.faults.push(...judgeRefusal(ending, where));
  }

  /** Adds what the clients saw. A refusal that is neither usual nor allowed is a fault. */
  take({ calls, load: { refusals } }: Traffic, allowed: readonly string[] = []): void {
    this.calls.push(...calls);
    this.refusedCalls += refusals.length;
    const expected = new Set([...USUAL_REFUSALS, ...allowed]);
    this.faults.push(...refusals.filter((refusal) => !expected.has(kindOf(refusal))));
  }
}

/** Status and code of a refusal as `Load` notes it: its label, the status and the body. */
function kindOf(refusal: string): string {
  const [, status, body] = /^\S+: (\d{3}) (.*)$/s.exec(refusal) ?? [];
  if (status === undefined) return refusal;
  try {
    return `${status} ${JSON.parse(body!).error.code}`;
  } catch {
    return status;
  }
}
