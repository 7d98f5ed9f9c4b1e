import type { Random } from '../../test/random.ts';
import type { Fields, Frame, StreamAnswer } from './answers.ts';

/** Values of a wrong type. */
const ODD_VALUES: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  '',
  'x',
  '\u0000\ud800',
  '__proto__',
  'a\r\n\r\nevent: message_stop\r\ndata: {}',
  [],
  [[[[]]]],
  [null],
  {},
  { __proto__: null, constructor: { prototype: 1 } },
  { toString: 1, length: -1, valueOf: {} },
];

/** The same object with one value, anywhere in it, replaced, removed or added. */
export function confuse(data: Fields, random: Random): Fields {
  const copy = structuredClone(data);
  const places: [Fields, string][] = [];
  collect(copy, places);
  const [holder, key] = random.pick(places);
  const how = random.next();
  if (how < 0.2) delete holder[key];
  else if (how < 0.3) holder[random.pick(['error', 'usage', 'type', 'index', '__proto__ '])] = random.pick(ODD_VALUES);
  else holder[key] = random.pick(ODD_VALUES);
  return copy;
}

function collect(value: unknown, places: [Fields, string][]): void {
  if (typeof value !== 'object' || value === null) return;
  for (const key of Object.keys(value)) {
    places.push([value as Fields, key]);
    collect((value as Fields)[key], places);
  }
}

/** Absurd counts; written as text, because JSON allows numbers that JavaScript cannot represent. */
const ODD_COUNTS = [
  '-1',
  '-9007199254740993',
  '9007199254740991',
  '9007199254740993',
  '1e308',
  '1e999',
  '-1e999',
  '0.5',
  '1.0',
  '-0',
  '0',
  '99999999999999999999999999999999999999999999',
  'null',
  'true',
  '"12"',
  '"many"',
  '[]',
  '{}',
  '[9]',
  '4294967296',
];

const COUNT = /"((?:prompt|completion|input|output|total)_tokens)":(\d+)/g;
const MORE = [
  '"prompt_tokens_details":{"cached_tokens":1e9}',
  '"prompt_tokens_details":[]',
  '"input_tokens_details":{"cached_tokens":-5}',
  '"completion_tokens_details":{"reasoning_tokens":1e300}',
  '"cache_read_input_tokens":9007199254740991',
  '"cache_creation_input_tokens":-3',
  '"cache_creation":{"ephemeral_1h_input_tokens":9e15}',
  '"cost":99999',
];

/** Usage with counts replaced, members repeated or added, or a second usage that differs. */
export function spoilUsage(answer: StreamAnswer, random: Random): Frame[] {
  const frames = answer.frames.map((frame) => spoilCounts(frame, random));
  if (random.chance(0.7)) return frames;
  // Sent twice, the second time with other values.
  const at = frames.findLastIndex(({ data }) => typeof data === 'string' && data.includes('_tokens'));
  if (at <= 0 || answer.wire === 'messages' || answer.wire === 'responses') return frames;
  return frames.toSpliced(at, 0, spoilCounts(answer.frames[at]!, random));
}

export function spoilCounts({ event, data }: Frame, random: Random): Frame {
  if (typeof data === 'string' || !JSON.stringify(data).includes('_tokens')) return { event, data };
  let text = JSON.stringify(data).replace(COUNT, (whole, name: string) => {
    if (random.chance(0.4)) return whole;
    const twice = random.chance(0.1) ? `"${name}":${random.pick(ODD_COUNTS)},` : '';
    return `${twice}"${name}":${random.pick(ODD_COUNTS)}`;
  });
  if (random.chance(0.3)) text = text.replace('"usage":{', `"usage":{${random.pick(MORE)},`);
  if (random.chance(0.1)) text = text.replace(/"usage":\{[^{}]*\}/, `"usage":${random.pick(ODD_COUNTS)}`);
  return { event, data: text };
}
