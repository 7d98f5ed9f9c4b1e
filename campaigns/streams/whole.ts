import { HOST_WIRES, type HostWire } from '../../src/canonical/wire-names.ts';
import type { Random } from '../../test/random.ts';
import { type Fields, wholeAnswer } from './answers.ts';
import { bodyOf } from './bytes.ts';
import { confuse, spoilCounts } from './confuse.ts';
import type { Spoiled, Verdict } from './spoil.ts';

interface WholeSpoil {
  readonly name: string;
  readonly weight: number;
  spoil(answer: Fields, wire: HostWire, random: Random): Spoiled;
}

function whole(text: string | Buffer, verdict: Verdict): Spoiled {
  return { body: bodyOf([text], 0, 0), verdict, contentType: 'application/json' };
}

/** What can be wrong with a buffered response. */
export const WHOLE_SPOILS: readonly WholeSpoil[] = [
  { name: 'whole: nothing wrong', weight: 3, spoil: (answer) => whole(JSON.stringify(answer), 'whole') },
  {
    name: 'whole: half of it',
    weight: 2,
    spoil: (answer, _wire, random) => {
      const text = JSON.stringify(answer);
      return whole(text.slice(0, random.below(text.length)), 'broken');
    },
  },
  {
    name: 'whole: no answer',
    weight: 2,
    spoil: (_answer, _wire, random) =>
      whole(
        random.pick(['', 'null', '[]', '{}', '1', '"x"', 'hello', '<html>', '{"error":{"message":"no"}}', '{]']),
        'broken',
      ),
  },
  {
    name: 'whole: absurd usage',
    weight: 4,
    spoil: (answer, _wire, random) => {
      const { data } = spoilCounts({ event: null, data: answer }, random);
      return whole(typeof data === 'string' ? data : JSON.stringify(data), 'whole');
    },
  },
  {
    name: 'whole: values of other types',
    weight: 5,
    spoil: (answer, _wire, random) => whole(JSON.stringify(confuse(answer, random)), 'either'),
  },
  {
    name: 'whole: no UTF-8',
    weight: 2,
    spoil: (answer, _wire, random) => {
      const bytes = Buffer.from(JSON.stringify(answer));
      for (let times = random.between(1, 4); times > 0; times--) {
        bytes[random.below(bytes.length)] = random.pick([0x80, 0xc3, 0xed, 0xff, 0x00, 0x0a]);
      }
      return whole(bytes, 'either');
    },
  },
  {
    name: 'whole: of another wire',
    weight: 1,
    spoil: (_answer, wire, random) => {
      const other = random.pick(HOST_WIRES.filter((one) => one !== wire));
      return whole(JSON.stringify(wholeAnswer(other, random)), 'either');
    },
  },
  {
    name: 'whole: nested without end',
    weight: 1,
    spoil: (answer, _wire, random) => {
      const depth = random.pick([100, 5_000, 100_000]);
      const text = JSON.stringify(answer);
      return whole(`${text.slice(0, -1)},"nested":${'['.repeat(depth)}${']'.repeat(depth)}}`, 'either');
    },
  },
];
