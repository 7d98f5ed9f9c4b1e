import type { Random } from '../../test/random.ts';
import { type Fields, type Frame, STREAMING_WIRES, type StreamAnswer, streamAnswer } from './answers.ts';
import { BOMBS } from './bombs.ts';
import { type Body, bodyOf, encodeFrame, type LineStyle } from './bytes.ts';
import { confuse, spoilUsage } from './confuse.ts';

/**
 * How a client may see it: `whole` must end cleanly, `broken` must not, and `either` may do both as long as everything
 * that was sent agrees.
 */
export type Verdict = 'whole' | 'either' | 'broken';

export interface Spoiled {
  readonly body: Body;
  readonly verdict: Verdict;
  /** A host that sends a buffered response although a stream was requested. */
  readonly contentType?: string;
}

export interface Spoil {
  readonly name: string;
  /** How often it is chosen; expensive cases are rare. */
  readonly weight: number;
  spoil(answer: StreamAnswer, random: Random): Spoiled;
}

/** Marks frames after the end; no client may ever see it. */
export const AFTER_END = 'said-after-the-end';

const JUNK = ['hello', '{', '{"choices":[', 'undefined', 'NaN', "{'a':1}", '[1,2', '{"a":1}}', '"', '\u0000', '<html>'];

function plain(answer: StreamAnswer, style: LineStyle = 'lf'): Body {
  return bodyOf(
    answer.frames.map((frame) => encodeFrame(frame, style)),
    answer.finishAt,
    answer.endAt,
  );
}

function withFrames(answer: StreamAnswer, frames: readonly Frame[], verdict: Verdict): Spoiled {
  const shift = frames.length - answer.frames.length;
  const body = bodyOf(
    frames.map((frame) => encodeFrame(frame)),
    answer.finishAt + shift,
    answer.endAt + shift,
  );
  return { body, verdict };
}

/** Inserts frames somewhere before the end. */
function inserted(answer: StreamAnswer, random: Random, more: readonly Frame[], verdict: Verdict): Spoiled {
  const at = random.between(0, answer.finishAt);
  return withFrames(answer, answer.frames.toSpliced(at, 0, ...more), verdict);
}

function errorFrame(wire: string, random: Random): Frame {
  const error = { message: 'I broke', type: 'server_error', code: random.pick(['x', null, 500]) };
  switch (wire) {
    case 'messages':
      return { event: 'error', data: { type: 'error', error: { type: 'overloaded_error', message: 'I broke' } } };
    case 'responses':
      return random.chance(0.5)
        ? { event: 'error', data: { ...error, type: 'error' } }
        : { event: 'response.failed', data: { type: 'response.failed', response: { status: 'failed', error } } };
    default:
      return { event: random.chance(0.2) ? 'error' : null, data: { error } };
  }
}

/** A body that cannot end cleanly anywhere. */
function hopeless(parts: readonly (string | Buffer)[], verdict: Verdict = 'broken'): Spoiled {
  return { body: bodyOf(parts, parts.length, parts.length), verdict };
}

export const SPOILS: readonly Spoil[] = [
  { name: 'nothing wrong', weight: 6, spoil: (answer) => ({ body: plain(answer), verdict: 'whole' }) },
  {
    name: 'odd line ends',
    weight: 3,
    spoil: (answer, random) => {
      const style = random.pick<LineStyle>(['crlf', 'cr', 'tight', 'chatty']);
      return { body: plain(answer, style), verdict: 'whole' };
    },
  },
  {
    name: 'no terminator',
    weight: 3,
    spoil: (answer) => withFrames(answer, answer.frames.slice(0, answer.endAt), 'either'),
  },
  {
    name: 'cut between frames',
    weight: 5,
    spoil: (answer, random) => {
      const kept = answer.frames.slice(0, random.between(0, answer.finishAt));
      return hopeless(kept.map((frame) => encodeFrame(frame)));
    },
  },
  {
    name: 'nothing but a terminator',
    weight: 1,
    // On one wire the last event repeats the whole response.
    spoil: (answer) =>
      hopeless([encodeFrame(answer.frames[answer.endAt]!)], answer.wire === 'responses' ? 'either' : 'broken'),
  },
  {
    name: 'an error in the stream',
    weight: 4,
    spoil: (answer, random) => inserted(answer, random, [errorFrame(answer.wire, random)], 'broken'),
  },
  {
    name: 'junk for a frame',
    weight: 3,
    spoil: (answer, random) => inserted(answer, random, [{ event: null, data: random.pick(JUNK) }], 'broken'),
  },
  {
    name: 'half of a frame',
    weight: 3,
    spoil: (answer, random) => {
      const at = random.between(0, answer.finishAt);
      const { event, data } = answer.frames[at]!;
      const text = JSON.stringify(data);
      const half = text.slice(0, random.between(1, text.length - 1));
      return withFrames(answer, answer.frames.with(at, { event, data: half }), 'broken');
    },
  },
  {
    name: 'frames of another wire',
    weight: 2,
    spoil: (answer, random) => {
      const other = random.pick(STREAMING_WIRES.filter((wire) => wire !== answer.wire));
      const looksAlike = ['chat', 'completions'].includes(answer.wire) && ['chat', 'completions'].includes(other);
      return { body: plain(streamAnswer(other, random)), verdict: looksAlike ? 'either' : 'broken' };
    },
  },
  {
    name: 'frames lost, repeated, out of order',
    weight: 4,
    spoil: (answer, random) => {
      const frames = [...answer.frames];
      for (let times = random.between(1, 4); times > 0 && frames.length > 1; times--) {
        const [from, to] = [random.below(frames.length), random.below(frames.length)];
        if (random.chance(0.4)) frames.splice(to, 0, frames[from]!);
        else if (random.chance(0.5)) frames.splice(from, 1);
        else frames.splice(to, 0, ...frames.splice(from, 1));
      }
      return {
        ...hopeless(
          frames.map((frame) => encodeFrame(frame)),
          'either',
        ),
      };
    },
  },
  {
    name: 'more after the end',
    weight: 3,
    spoil: (answer, random) => {
      const more = [errorFrame(answer.wire, random), ...answer.frames].map((frame) => encodeFrame(frame));
      const marked = [...more, encodeFrame({ event: null, data: AFTER_END }), `: ${AFTER_END}\n\n`];
      const own = answer.frames.map((frame) => encodeFrame(frame));
      return { body: bodyOf([...own, ...marked], answer.finishAt, answer.endAt), verdict: 'whole' };
    },
  },
  {
    name: 'absurd usage',
    weight: 8,
    spoil: (answer, random) => {
      // The repetition comes after the finish.
      const frames = spoilUsage(answer, random).map((frame) => encodeFrame(frame));
      return { body: bodyOf(frames, answer.finishAt, frames.length - 1), verdict: 'whole' };
    },
  },
  {
    name: 'values of other types',
    weight: 8,
    spoil: (answer, random) => {
      const at = random.below(answer.frames.length);
      const { event, data } = answer.frames[at]!;
      const changed = typeof data === 'string' ? data : confuse(data, random);
      return withFrames(answer, answer.frames.with(at, { event, data: changed as Fields }), 'either');
    },
  },
  {
    name: 'no UTF-8',
    weight: 4,
    spoil: (answer, random) => {
      const { bytes, finishByte, endByte } = plain(answer);
      const broken = Buffer.from(bytes);
      for (let times = random.between(1, 8); times > 0; times--) {
        broken[random.below(broken.length)] = random.pick([0x80, 0xbf, 0xc0, 0xc3, 0xe2, 0xed, 0xf0, 0xf8, 0xfe, 0xff]);
      }
      return { body: { bytes: broken, finishByte, endByte }, verdict: 'either' };
    },
  },
  {
    name: 'bytes turned over',
    weight: 4,
    spoil: (answer, random) => {
      const { bytes, finishByte, endByte } = plain(answer);
      const broken = Buffer.from(bytes);
      for (let times = random.between(1, 4); times > 0; times--) {
        broken[random.below(broken.length)]! ^= 1 << random.below(8);
      }
      return { body: { bytes: broken, finishByte, endByte }, verdict: 'either' };
    },
  },
  ...BOMBS,
];
