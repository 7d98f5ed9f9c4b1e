import { ATTACKS } from './attacks.ts';
import { callAtRate, type Timed } from './call-at-rate.ts';
import { announce } from './child.ts';

/** One attack, in a process of its own, because sending large bodies takes CPU time that is not the gateway's. */
export interface AttackOrder {
  readonly attack: string;
  readonly url: string;
  readonly key: string;
  readonly seconds: number;
}

process.on('message', ({ attack, url, key, seconds }: AttackOrder) => {
  const { body, perSecond } = ATTACKS.find(({ name }) => name === attack)!;
  void callAtRate(url, key, body(), perSecond, seconds).then((timed: Timed[]) => process.send!(timed));
});
announce({});
