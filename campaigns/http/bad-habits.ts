import type { Random } from '../../test/random.ts';
import type { Answer } from './answers.ts';
import { type AttackClass, isDeliberate, type Means } from './attack-class.ts';
import { bytes, CLOSE, goodCall, HOST, JSON_TYPE, lengthOf, type RawRequest, smallCall, write } from './raw-request.ts';

/** Every byte as a piece of its own, as on a slow line. */
function drops(text: string): Buffer[] {
  return [...text].map(bytes);
}

function cut(text: string, random: Random): string {
  return text.slice(0, random.below(text.length));
}

/** Requests on one connection; the last closes it. */
function queue(random: Random, { key }: Means): RawRequest[] {
  const kinds: (() => RawRequest)[] = [
    () => ({ lines: [HOST, key] }),
    () => ({ target: '/v1/models/nobody', lines: [HOST, key] }),
    () => ({ target: '/v1/nothing', lines: [HOST, key] }),
    () => ({ method: 'POST', target: '/v1/chat/completions', ...withBody('{', key) }),
    () => ({ method: 'POST', target: '/v1/chat/completions', ...withBody(smallCall(random), key) }),
    () => ({ method: 'POST', target: '/v1/messages', ...withBody('[]', key) }),
  ];
  const requests = Array.from({ length: random.between(2, 8) }, () => random.pick(kinds)());
  return [...requests, { lines: [HOST, key, CLOSE] }];
}

function withBody(body: string, key: string): Pick<RawRequest, 'lines' | 'body'> {
  return { lines: [HOST, key, JSON_TYPE, lengthOf(body)], body };
}

function expectAnswered(answers: readonly Answer[], count: number): string | null {
  if (answers.some(isDeliberate)) return null;
  return answers.length === count ? null : `${answers.length} answers to ${count} requests`;
}

function isServed(answer: Answer | undefined): string | null {
  if (answer?.status === 200 || (answer !== undefined && isDeliberate(answer))) return null;
  return `a good call was answered with ${answer?.status ?? 'nothing'} ${answer?.body.slice(0, 200) ?? ''}`;
}

export const BAD_HABITS: readonly AttackClass[] = [
  {
    name: 'requests byte by byte',
    weight: 2,
    make: (random, { key }) => {
      const text = write({ lines: [HOST, key, CLOSE] });
      const call = write(goodCall(random, key));
      const whole = random.chance(0.5) ? text : call;
      return { pieces: drops(whole), after: 'wait', answersMax: 1, judge: (answers) => expectAnswered(answers, 1) };
    },
  },
  {
    name: 'requests byte by byte that break off',
    weight: 3,
    make: (random, { key }) => ({
      pieces: drops(cut(write(goodCall(random, key)), random)),
      after: random.pick(['half-close', 'reset']),
      answersMax: 1,
    }),
  },
  {
    name: 'requests that break off',
    weight: 8,
    make: (random, { key }) => ({
      pieces: [bytes(cut(write(goodCall(random, key)), random))],
      after: random.pick(['half-close', 'reset']),
      answersMax: 1,
    }),
  },
  {
    name: 'a length that never comes',
    weight: 4,
    make: (random, { key }) => {
      const body = smallCall(random);
      const lines = [HOST, key, JSON_TYPE, `content-length: ${body.length + random.between(1, 30_000_000)}`];
      const text = write({ method: 'POST', target: '/v1/chat/completions', lines, body });
      return { pieces: [bytes(text)], after: random.pick(['half-close', 'reset']), answersMax: 1 };
    },
  },
  {
    name: 'many requests at once on one connection',
    weight: 6,
    make: (random, means) => {
      const requests = queue(random, means);
      const text = requests.map(write).join('');
      const middle = random.below(text.length);
      const pieces = random.chance(0.5) ? [text] : [text.slice(0, middle), text.slice(middle)];
      return {
        pieces: pieces.filter((piece) => piece !== '').map(bytes),
        after: 'wait',
        answersMax: requests.length,
        judge: (answers) => expectAnswered(answers, requests.length),
      };
    },
  },
  {
    name: 'many requests at once, and gone',
    weight: 3,
    make: (random, means) => ({
      pieces: [bytes(queue(random, means).map(write).join(''))],
      after: random.pick(['reset', 'reset-on-answer', 'half-close']),
      answersMax: 9,
    }),
  },
  {
    name: 'calls whose client is gone',
    weight: 4,
    make: (random, { key }) => ({
      pieces: [bytes(write(goodCall(random, key, { stream: random.chance(0.7) })))],
      after: random.pick(['reset', 'reset-on-answer', 'half-close']),
      answersMax: 1,
    }),
  },
  {
    name: 'more body than was announced',
    weight: 2,
    make: (random, { key }) => {
      const { lines = [], body = '', ...rest } = goodCall(random, key);
      const text = write({
        ...rest,
        lines: lines.filter((line) => line !== CLOSE),
        body: `${body}{${cut(body, random)}`,
      });
      return { pieces: [bytes(text)], after: 'wait', answersMax: 2, judge: ([answer]) => isServed(answer) };
    },
  },
  {
    name: 'valid calls',
    weight: 3,
    make: (random, { key }) => ({
      pieces: [bytes(write(goodCall(random, key, { stream: random.chance(0.3) })))],
      after: 'wait',
      answersMax: 1,
      judge: ([answer]) => isServed(answer),
    }),
  },
];
