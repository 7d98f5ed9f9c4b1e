import type { BadClass, BadRequest } from '../../test/bad-requests/bad-class.ts';
import { BROKEN_TEXTS } from '../../test/bad-requests/broken-text.ts';
import { REFUSED_FEATURES } from '../../test/bad-requests/refused-features.ts';
import { WRONG_FIELDS } from '../../test/bad-requests/wrong-fields.ts';
import { WRONG_HTTP } from '../../test/bad-requests/wrong-http.ts';
import { WRONG_MESSAGES } from '../../test/bad-requests/wrong-messages.ts';
import type { Random } from '../../test/random.ts';
import type { Answer } from './answers.ts';
import type { Attack } from './attack.ts';
import { type AttackClass, isDeliberate, type Means } from './attack-class.ts';

/** Cases about local mode or special keys do not apply to a hosted gateway with one key. */
function isForAnyone({ code, key }: BadClass): boolean {
  return !code.startsWith('forbidden_') && (key === undefined || key === 'nobody');
}

const ROWS = [...WRONG_FIELDS, ...WRONG_MESSAGES, ...REFUSED_FEATURES, ...BROKEN_TEXTS, ...WRONG_HTTP].filter(
  isForAnyone,
);
const CHEAP = ROWS.filter(({ times }) => times === undefined);
const DEAR = ROWS.filter(({ times }) => times !== undefined);

function attack(row: BadClass, request: BadRequest, means: Means): Attack {
  return {
    pieces: [written(request, row.key === 'nobody' ? [] : [means.key])],
    after: 'wait',
    answersMax: 1,
    judge: (answers) => complaint(row, request, answers[0]),
  };
}

/** The table says what the response must be. */
function complaint(row: BadClass, { method }: BadRequest, answer: Answer | undefined): string | null {
  if (answer === undefined) return `${row.name}: no answer`;
  if (isDeliberate(answer)) return null;
  if (answer.status !== row.status) return `${row.name}: ${answer.status}, not ${row.status}`;
  if (method === 'HEAD') return null;
  return answer.body.includes(`"code":${JSON.stringify(row.code)}`)
    ? null
    : `${row.name}: another code: ${answer.body}`;
}

function written(request: BadRequest, first: readonly string[]): Buffer {
  const { method = 'POST', path = '/v1/chat/completions' } = request;
  const body = typeof request.body === 'string' ? Buffer.from(request.body) : (request.body ?? null);
  const headers = {
    host: 'gateway.example',
    connection: 'close',
    ...(body === null ? {} : { 'content-type': 'application/json', ...framing(body, request.chunked === true) }),
    ...request.headers,
  };
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    (value === null ? [] : [value].flat()).map((one) => `${name}: ${one}`),
  );
  const head = Buffer.from(`${[`${method} ${path} HTTP/1.1`, ...first, ...lines].join('\r\n')}\r\n\r\n`);
  if (body === null) return head;
  if (request.chunked !== true) return Buffer.concat([head, body]);
  return Buffer.concat([head, Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]);
}

function framing(body: Buffer, chunked: boolean): Record<string, string> {
  return chunked ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(body.length) };
}

const from = (rows: readonly BadClass[]) => (random: Random, means: Means) => {
  const row = random.pick(rows);
  return attack(row, row.make(random), means);
};

export const BAD_BODIES: readonly AttackClass[] = [
  { name: 'bad requests, by the table of bad requests', weight: 30, make: from(CHEAP) },
  { name: 'bodies that are dear to send', weight: 0.1, make: from(DEAR) },
  {
    name: 'JSON too deep or too wide',
    weight: 3,
    make: from(CHEAP.filter(({ name }) => /without end|twice/.test(name))),
  },
];
