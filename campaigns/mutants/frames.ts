import type { Mutant } from './seeds.ts';

const MEMORY = 'src/wires/frames/frame-memory.ts';
const PATTERN = 'src/wires/frames/frame-pattern.ts';
const REPEATED = 'src/wires/frames/repeated-frames.ts';

/** Faults of the memories by which frames and responses are relayed without parsing them. */
export const FRAME_MUTANTS: readonly Mutant[] = [
  {
    name: 'a pattern that keeps the id of its stream',
    changes: [
      {
        file: PATTERN,
        find: "  put(template, bytes, { id: '0'.repeat(identity.id.length), created: '0'.repeat(identity.created.length) });\n",
        replace: '',
      },
    ],
    tests: ['src/wires/frames/frame-pattern.test.ts'],
  },
  {
    name: 'a frame memory without a bound',
    changes: [
      {
        file: MEMORY,
        find: '  else if (patterns.length === LIMITS.cachedFramesMax) patterns.shift();\n',
        replace: '',
      },
    ],
    tests: ['src/wires/frames/frame-memory.test.ts'],
  },
  {
    name: 'a frame learned though it is padded twice',
    changes: [{ file: REPEATED, find: ' || isPaddedTwice(raw)', replace: '' }],
    tests: ['src/wires/frames/repeated-frames.test.ts'],
  },
  {
    name: 'a frame memory that cannot be switched off',
    changes: [
      {
        file: 'src/wires/frames/choice-stream.ts',
        find: 'terms.parseEveryFrame === true ? null : new RepeatedFrames(kind.wordsOf)',
        replace: 'new RepeatedFrames(kind.wordsOf)',
      },
    ],
    tests: ['src/wires/chat/remembered-frames.test.ts'],
  },
  {
    name: 'a known response whose text is not checked',
    changes: [
      {
        file: 'src/json/json.ts',
        find: "return JSON.parse(bytes.toString('utf8', start - 1, end + 1)) as string;",
        replace: "return bytes.toString('utf8', start, end);",
      },
    ],
    tests: ['src/wires/chat/known-response.test.ts'],
  },
  {
    name: 'a response learned though it has a key twice',
    changes: [{ file: 'src/wires/chat/known-response.ts', find: ' || !hasEachKeyOnce(body)', replace: '' }],
    tests: ['src/wires/chat/known-response.test.ts'],
  },
  {
    name: 'a memory of responses that keeps other text of a model',
    changes: [
      {
        file: 'src/wires/chat/known-response.ts',
        find: "hasNoText(choice.message, OF_MESSAGE, 'content')",
        replace: 'isObject(choice.message)',
      },
    ],
    tests: ['src/wires/chat/known-response.test.ts'],
  },
];
