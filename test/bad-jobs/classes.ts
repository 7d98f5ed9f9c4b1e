import type { BadClass, BadRequest } from '../bad-requests/bad-class.ts';
import { BROKEN_TEXTS } from '../bad-requests/broken-text.ts';
import { REFUSED_FEATURES } from '../bad-requests/refused-features.ts';
import { WRONG_FIELDS } from '../bad-requests/wrong-fields.ts';
import { WRONG_MESSAGES } from '../bad-requests/wrong-messages.ts';
import { Random } from '../random.ts';
import {
  type BadJobClass,
  type BadSubmission,
  DAY_MS,
  type Fields,
  goodJob,
  goodLine,
  groupWith,
  iso,
  jobBody,
  NOW_MS,
} from './bad-job.ts';

const PATH = '/v1/jobs';

/** Spoils one field of a good submission. */
function envelope(name: string, code: string, param: string | null, spoil: (random: Random) => Fields): BadJobClass {
  const make = (random: Random): BadSubmission => {
    const job = { ...goodJob(random), ...spoil(random) };
    return { param, path: PATH, body: JSON.stringify(job) };
  };
  return { name, status: 400, code, make };
}

const many = Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`name${at}`, 'x']));

const ENVELOPES: readonly BadJobClass[] = [
  envelope('no endpoint', 'missing_required_parameter', 'endpoint', () => ({ endpoint: undefined })),
  envelope('an unknown endpoint', 'invalid_value', 'endpoint', (random) => ({
    endpoint: random.pick<unknown>(['/v1/images', '/v1/jobs', '/chat/completions', 'chat', 7, {}, '']),
  })),
  envelope('no body', 'missing_required_parameter', 'body', (random) => ({ body: random.pick([undefined, null]) })),
  envelope('a body that is not an object', 'invalid_value', 'body', (random) => ({
    body: random.pick<unknown>(['{}', [], 1, true]),
  })),
  envelope('a stream', 'unsupported_feature', 'body.stream', (random) => ({
    body: { ...jobBody(random), stream: random.pick<unknown>([true, 1, 'true']) },
  })),
  envelope('an unknown field', 'unsupported_parameter', 'completion_window', () => ({ completion_window: '24h' })),
  envelope('a start that is not a time', 'invalid_value', 'not_before', (random) => ({
    not_before: random.pick<unknown>(['tomorrow', '2027-02-30T00:00:00Z', '2027-01-01', 1_800_000_000, {}]),
  })),
  envelope('a start after the end', 'invalid_value', 'not_before', () => ({
    not_before: iso(NOW_MS + 2 * DAY_MS),
    expires_at: iso(NOW_MS + DAY_MS),
  })),
  envelope('an end in the past', 'invalid_value', 'expires_at', (random) => ({
    expires_at: iso(NOW_MS - random.between(1, 1_000_000)),
  })),
  envelope('an end too far ahead', 'invalid_value', 'expires_at', (random) => ({
    expires_at: iso(NOW_MS + random.between(31, 1_000) * DAY_MS),
  })),
  envelope('a time to keep that is out of range', 'invalid_value', 'result_ttl_seconds', (random) => ({
    result_ttl_seconds: random.pick<unknown>([0, -1, 0.5, 2_592_001, '60', {}]),
  })),
  envelope('another word for unknown', 'invalid_value', 'on_unknown', (random) => ({
    on_unknown: random.pick<unknown>(['FAIL', 'ignore', true, 1]),
  })),
  envelope('a webhook that is not there', 'invalid_value', 'webhook', (random) => ({
    webhook: random.pick<unknown>(['nobody', '', 7, 'x'.repeat(65)]),
  })),
  envelope('metadata beyond its bounds', 'invalid_value', 'metadata', (random) => ({
    metadata: random.pick<unknown>([many, { a: 1 }, { '': 'x' }, { a: 'x'.repeat(513) }, ['a'], 'a', { a: '\0' }]),
  })),
  envelope('an id beyond its bounds', 'invalid_value', 'custom_id', (random) => ({
    custom_id: random.pick<unknown>(['', 'x'.repeat(65), 7, {}]),
  })),
];

/** What the endpoint of a call refuses, it also refuses for a job, with the same message. */
function asJob({ make, ...row }: BadClass): BadJobClass {
  const wrap = (request: BadRequest): BadSubmission => ({
    param: inBody(request.param),
    path: PATH,
    headers: request.headers ?? {},
    body: `{"endpoint":"/v1/chat/completions","body":${request.body}}`,
  });
  return { ...row, name: `a call with ${row.name}`, make: (random) => wrap(buffered(make, random)) };
}

/** The same field, named by its path in the submission. */
function inBody(param: BadRequest['param']): BadRequest['param'] {
  if (param === null) return null;
  if (typeof param === 'string') return `body.${param}`;
  return (named) => (named === null ? param(null) : named.startsWith('body.') && param(named.slice('body.'.length)));
}

const ATTEMPTS_MAX = 200;

/** A body that would be a stream is refused for that first, so another one is made. */
function buffered(make: BadClass['make'], random: Random): BadRequest {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const request = make(random);
    if (!isStream(String(request.body))) return request;
  }
  throw new Error('This class makes only streams.');
}

/** Some classes are about streams. */
function isBuffered({ make }: BadClass): boolean {
  const random = new Random(1);
  return Array.from({ length: ATTEMPTS_MAX }, () => make(random)).some(({ body }) => !isStream(String(body)));
}

function isStream(text: string): boolean {
  try {
    const { stream } = JSON.parse(text) as { stream?: unknown };
    return stream != null && stream !== false;
  } catch {
    return false;
  }
}

const CALLS = [...WRONG_FIELDS, ...WRONG_MESSAGES, ...REFUSED_FEATURES]
  .filter((row) => row.key === undefined && row.times === undefined && isBuffered(row))
  .map(asJob);

/** The same as one line of a group. */
function asLine({ make, ...row }: BadClass): BadJobClass {
  const wrap = (random: Random): BadSubmission => {
    const { param, body, headers = {} } = buffered(make, random);
    const line = `{"custom_id":"bad","method":"POST","url":"/v1/chat/completions","body":${body}}`;
    const group = groupWith(random, line, inBody(param));
    return { ...group, headers: { ...headers, ...group.headers } };
  };
  return { ...row, name: `a line with ${row.name}`, make: wrap };
}

const CALL_LINES = WRONG_FIELDS.filter((row) => row.times === undefined && isBuffered(row)).map(asLine);

function line(name: string, code: string, param: string | null, spoil: Fields): BadJobClass {
  const make = (random: Random): BadSubmission =>
    groupWith(random, JSON.stringify({ ...goodLine(random, 99), ...spoil }), param);
  return { name, status: 400, code, make };
}

const LINES: readonly BadJobClass[] = [
  line('a line without an id', 'missing_required_parameter', 'custom_id', { custom_id: undefined }),
  line('a line with a long id', 'invalid_value', 'custom_id', { custom_id: 'x'.repeat(65) }),
  line('a line without a method', 'missing_required_parameter', 'method', { method: undefined }),
  line('a line with another method', 'invalid_value', 'method', { method: 'GET' }),
  line('a line for another route', 'invalid_value', 'url', { url: '/v1/images' }),
  line('a line with a stream', 'unsupported_feature', 'body.stream', { body: { model: 'sim-gpt', stream: true } }),
  line('a line with a field of its own', 'unsupported_parameter', 'priority', { priority: 1 }),
];

/** Each body is refused as a whole. */
const TEXTS = BROKEN_TEXTS.filter(({ times }) => times === undefined).map(
  ({ make, ...row }): BadJobClass => ({
    ...row,
    make: (random) => ({ ...make(random), path: PATH }),
  }),
);

const GROUPS: readonly BadJobClass[] = [
  {
    name: 'the same id twice',
    status: 400,
    code: 'invalid_value',
    make: (random) => {
      const twice = JSON.stringify(goodLine(random, 1));
      const headers = { 'content-type': 'application/jsonl' };
      const body = `${twice}\n${twice}`;
      return { param: 'custom_id', path: '/v1/jobs/groups', headers, body, begins: 'Line 2: ' };
    },
  },
  {
    name: 'an empty group',
    status: 400,
    code: 'invalid_request_body',
    make: () => ({
      param: null,
      path: '/v1/jobs/groups',
      headers: { 'content-type': 'application/jsonl' },
      body: '\n',
    }),
  },
  {
    name: 'a group of another type',
    status: 415,
    code: 'unsupported_media_type',
    make: (random) => ({
      param: 'content-type',
      path: '/v1/jobs/groups',
      headers: { 'content-type': random.pick(['text/plain', 'multipart/form-data']) },
      body: '{}',
    }),
  },
  {
    name: 'an unknown parameter of a group',
    status: 400,
    code: 'unsupported_parameter',
    make: (random) => ({
      ...groupWith(random, '{}', 'completion_window'),
      path: '/v1/jobs/groups?completion_window=24h',
      begins: '',
    }),
  },
];

const MONEY: readonly BadJobClass[] = [
  ...(['penniless', 'capped', 'restricted'] as const).flatMap((key): BadJobClass[] => {
    const refused = {
      penniless: { status: 402, code: 'insufficient_quota', type: 'insufficient_allowance', param: null },
      capped: { status: 402, code: 'key_spend_cap_exceeded', type: 'key_spend_cap_exceeded', param: null },
      restricted: { status: 404, code: 'model_not_found', param: 'body.model' },
    }[key];
    const { param, ...row } = refused;
    return [
      {
        ...row,
        name: `a job of a ${key} key`,
        key,
        make: (random) => ({ param, path: PATH, body: JSON.stringify(goodJob(random)) }),
      },
      {
        ...row,
        name: `a group of a ${key} key`,
        key,
        make: (random) => {
          const group = groupWith(random, JSON.stringify(goodLine(random, 99)), param);
          return { ...group, begins: key === 'restricted' ? 'Line 1: ' : '' };
        },
      },
    ];
  }),
  {
    name: 'a ceiling below the worst case',
    status: 402,
    code: 'cost_ceiling_exceeded',
    type: 'cost_ceiling_exceeded',
    make: (random) => ({
      param: 'x-gateway-max-cost-nanousd',
      path: PATH,
      headers: { 'x-gateway-max-cost-nanousd': '0' },
      body: JSON.stringify(goodJob(random)),
    }),
  },
  {
    name: 'no key',
    status: 401,
    code: 'invalid_api_key',
    key: 'nobody',
    make: (random) => ({ param: null, path: PATH, body: JSON.stringify(goodJob(random)) }),
  },
];

export const BAD_JOBS: readonly BadJobClass[] = [
  ...ENVELOPES,
  ...LINES,
  ...GROUPS,
  ...MONEY,
  ...TEXTS,
  ...CALLS,
  ...CALL_LINES,
];
