import type { Random } from '../../test/random.ts';
import { chatCall, type Fields, type Frame, type StreamAnswer } from './answers.ts';
import { bodyOf, encodeFrame } from './bytes.ts';
import type { Spoil, Spoiled, Verdict } from './spoil.ts';

/** Larger than one event may be. */
const TOO_MUCH = 8 * 1024 * 1024 + 1;

/** Many frames in the middle of a valid stream; they share one buffer. */
function flooded(answer: StreamAnswer, at: number, flood: Buffer, verdict: Verdict): Spoiled {
  const own = answer.frames.map((frame) => Buffer.from(encodeFrame(frame)));
  const parts = [...own.slice(0, at), flood, ...own.slice(at)];
  return { body: bodyOf(parts, answer.finishAt + 1, answer.endAt + 1), verdict };
}

function repeated(text: string, times: number): Buffer {
  return Buffer.from(text.repeat(times));
}

/** After the first text of the model. */
function middleOf({ frames }: StreamAnswer): number {
  return frames.findIndex(({ isWords }) => isWords) + 1;
}

function wordsFrame({ frames }: StreamAnswer): Frame {
  return frames.find(({ isWords }) => isWords)!;
}

/** The same text frame with other text. */
function saying(answer: StreamAnswer, text: string): Frame {
  const { event, data } = structuredClone(wordsFrame(answer));
  const fields = data as Fields;
  const delta = fields.delta as Fields | string | undefined;
  if (typeof delta === 'string') fields.delta = text;
  else if (delta !== undefined) delta.text = text;
  else {
    const choice = (fields.choices as Fields[])[0]!;
    if (choice.delta === undefined) choice.text = text;
    else choice.delta = { content: text };
  }
  return { event, data: fields };
}

/** Frames that begin something new each time: tool calls, blocks, items, choices. */
function beginnings(wire: string, count: number, random: Random): string {
  const huge = random.chance(0.3);
  return Array.from({ length: count }, (_, at) => encodeFrame(beginning(wire, huge ? at * 1e9 : at + 1))).join('');
}

function beginning(wire: string, index: number): Frame {
  switch (wire) {
    case 'messages': {
      const content_block = { type: 'tool_use', id: `toolu_${index}`, name: 'look', input: {} };
      return { event: 'content_block_start', data: { type: 'content_block_start', index, content_block } };
    }
    case 'responses': {
      const item = { id: `fc_${index}`, type: 'function_call', name: 'look', call_id: `c${index}`, arguments: '' };
      const type = 'response.output_item.added';
      return { event: type, data: { type, output_index: index, item, sequence_number: index } };
    }
    default:
      return {
        event: null,
        data: {
          choices: [
            index % 2 === 0
              ? { index: 0, delta: { tool_calls: [chatCall(index)] }, finish_reason: null }
              : { index, text: 'x', delta: { content: 'x' }, finish_reason: null },
          ],
        },
      };
  }
}

export const BOMBS: readonly Spoil[] = [
  {
    name: 'thousands of tiny frames',
    weight: 1,
    spoil: (answer, random) => {
      const frame = encodeFrame(saying(answer, 'x'));
      return flooded(answer, middleOf(answer), repeated(frame, random.between(500, 5_000)), 'whole');
    },
  },
  {
    name: 'thousands of frames that say nothing',
    weight: 1,
    spoil: (answer, random) => {
      const nothing = random.pick([': hello\n\n', '\n', '\r\n\r\n', ':\n', 'data:\n\n', 'event: x\n\n', 'id: 1\n\n']);
      return flooded(
        answer,
        random.between(0, answer.finishAt),
        repeated(nothing, random.between(500, 20_000)),
        'whole',
      );
    },
  },
  {
    name: 'thousands of beginnings',
    weight: 1,
    spoil: (answer, random) => {
      const flood = Buffer.from(beginnings(answer.wire, random.between(100, 3_000), random));
      return flooded(answer, middleOf(answer), flood, 'either');
    },
  },
  {
    name: 'a stream that opens and opens',
    weight: 1,
    spoil: (answer, random) => {
      const text = answer.frames.slice(0, answer.wire === 'responses' ? 2 : 1).map((frame) => encodeFrame(frame));
      return flooded(answer, 0, repeated(text.join(''), random.between(100, 3_000)), 'either');
    },
  },
  {
    name: 'a frame of megabytes',
    weight: 0.1,
    spoil: (answer, random) => {
      const frame = encodeFrame(saying(answer, 'x'.repeat(random.between(1, 7) * 1024 * 1024)));
      return flooded(answer, middleOf(answer), Buffer.from(frame), 'whole');
    },
  },
  {
    name: 'a frame larger than any may be',
    weight: 0.1,
    spoil: (answer) => {
      const frame = encodeFrame(saying(answer, 'x'.repeat(TOO_MUCH)));
      return flooded(answer, middleOf(answer), Buffer.from(frame), 'broken');
    },
  },
  {
    name: 'a line without end',
    weight: 0.1,
    spoil: (answer, random) => {
      const line = Buffer.alloc(TOO_MUCH, random.pick(['x', ':', 'data: ', ' ']));
      const own = answer.frames.slice(0, random.between(0, answer.finishAt)).map((frame) => encodeFrame(frame));
      return { body: bodyOf([...own, line], own.length + 1, own.length + 1), verdict: 'broken' };
    },
  },
  {
    name: 'more words than any model says',
    weight: 0.05,
    spoil: (answer, random) => {
      const frame = encodeFrame(saying(answer, 'x'.repeat(256 * 1024)));
      return flooded(answer, middleOf(answer), repeated(frame, random.between(80, 120)), 'broken');
    },
  },
  {
    name: 'a frame nested without end',
    weight: 1,
    spoil: (answer, random) => {
      const depth = random.pick([100, 5_000, 100_000]);
      const nested = random.chance(0.5)
        ? '['.repeat(depth) + ']'.repeat(depth)
        : `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
      const { event, data } = wordsFrame(answer);
      const text = JSON.stringify(data);
      const inside = random.chance(0.5) ? nested : `${text.slice(0, -1)},"nested":${nested}}`;
      return flooded(answer, middleOf(answer), Buffer.from(encodeFrame({ event, data: inside })), 'either');
    },
  },
];
