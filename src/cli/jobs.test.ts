import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CliFixture, type CliRun } from '../../test/cli-fixture.ts';
import { nextTurn } from '../../test/until.ts';
import { LIMITS } from '../limits.ts';

/** A gateway that plays one group of three jobs; `test/jobs-groups.test.ts` runs the commands against a real one. */
const GROUP = 'grp_0k7q2xx9a6e3s';
const JOB = 'job_0k7q2xw6z5d2r';
const LINES = [1, 2, 3].map((at) => `{"id":"job_${at}","custom_id":"${at}","response":{},"error":null}\n`);

let fixture: CliFixture;
let server: Server;
let url: string;
let asked: string[];
let uploads: { readonly headers: IncomingMessage['headers']; readonly body: string }[];
/** How often the group is asked for before it has ended. */
let unfinished: number;
let answer: (request: IncomingMessage, response: ServerResponse) => boolean;

beforeEach(async () => {
  fixture = new CliFixture();
  [asked, uploads, unfinished] = [[], [], 2];
  answer = () => false;
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      asked.push(`${request.method} ${request.url}`);
      if (request.method === 'POST') uploads.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
      if (!answer(request, response)) play(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeFileSync(join(fixture.folder, 'batch.jsonl'), '{"custom_id":"1"}\n{"custom_id":"2"}\n');
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await fixture.remove();
});

function play({ method, url: path = '' }: IncomingMessage, response: ServerResponse): void {
  if (path.includes('/results')) {
    const after = /after=job_(\d)/.exec(path)?.[1];
    response.end(LINES.slice(Number(after ?? 0)).join(''));
  } else if (method === 'POST') json(response, 202, group(3));
  else if (path.startsWith('/v1/jobs/groups/')) json(response, 200, group(unfinished-- > 0 ? 2 : 0));
  else json(response, 404, { error: { message: 'There is no job with this id.', code: 'job_not_found' } });
}

function group(waiting: number, failed = 0): object {
  const counts = { total: 3, waiting, running: 0, succeeded: 3 - waiting - failed, failed, cancelled: 0, expired: 0 };
  const status = waiting === 0 ? 'finished' : 'running';
  const amounts = { reserved_nanousd: 12_345_678_901_234_567_890n, cost_nanousd: 7n };
  const times = { created_at: '2027-01-31T12:00:00.000Z', finished_at: null };
  return {
    id: GROUP,
    object: 'job_group',
    status,
    counts,
    ...times,
    ...amounts,
    metadata: { odd_nanousd: 'not a number' },
  };
}

function json(response: ServerResponse, status: number, value: object): void {
  const text = JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? Number(member) : member));
  response.writeHead(status, { 'content-type': 'application/json' }).end(text);
}

const KEYS = { TOLLGATE_API_KEY: 'tg_live_x', OTHER: 'tg_live_y' };

/** Runs a command while its pauses pass. */
async function run(...args: string[]): Promise<CliRun> {
  let result: CliRun | null = null;
  const running = fixture.run(['jobs', ...args, '--url', url], KEYS).then((ended) => {
    result = ended;
  });
  for (let turn = 0; turn < 100_000 && result === null; turn++) {
    fixture.clock.advance(LIMITS.jobPollMs);
    await nextTurn();
  }
  await running;
  return result!;
}

const out = (): string => join(fixture.folder, 'results.jsonl');

describe('tollgate jobs submit', () => {
  test('sends the file as it is, with the key, and prints the id of the group', async () => {
    const ended = await run('submit', 'batch.jsonl', '--webhook', 'billing', '--max-cost-nanousd', '5');
    expect(ended).toMatchObject({ code: 0, out: `${GROUP}\n` });
    expect(asked).toEqual(['POST /v1/jobs/groups?webhook=billing']);
    expect(uploads[0]).toMatchObject({
      body: '{"custom_id":"1"}\n{"custom_id":"2"}\n',
      headers: {
        authorization: 'Bearer tg_live_x',
        'content-type': 'application/jsonl',
        'x-gateway-max-cost-nanousd': '5',
        'idempotency-key': expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
    });
    expect(ended.err).toContain(`jobs wait ${GROUP}`);
  });

  test('sends times as the gateway reads them, also those that are given as durations', async () => {
    await run('submit', 'batch.jsonl', '--not-before', '2h', '--expires-at', '3d');
    const query = new URL(asked[0]!.slice('POST '.length), url).searchParams;
    const nowMs = Math.floor(fixture.clock.nowMs() / 1000) * 1000;
    expect([...query.keys()]).toEqual(['not_before', 'expires_at']);
    const [notBeforeMs, expiresMs] = [...query.values()].map((text) => Date.parse(text));
    expect(expiresMs! - notBeforeMs!).toBe(70 * 3_600_000);
    expect(notBeforeMs! - nowMs).toBeLessThanOrEqual(2 * 3_600_000);
  });

  test('waits for the end with --wait and writes the results', async () => {
    const ended = await run('submit', 'batch.jsonl', '--wait', '--out', 'results.jsonl');
    expect(ended.code).toBe(0);
    expect(readFileSync(out(), 'utf8')).toBe(LINES.join(''));
    expect(asked.filter((each) => each === `GET /v1/jobs/groups/${GROUP}`)).toHaveLength(3);
  });

  test('ends with 1 if not all jobs succeeded, but has their results', async () => {
    answer = ({ url: path = '' }, response) => {
      if (path !== `/v1/jobs/groups/${GROUP}`) return false;
      json(response, 200, group(0, 1));
      return true;
    };
    const ended = await run('submit', 'batch.jsonl', '--wait');
    expect(ended).toMatchObject({ code: 1, out: LINES.join('') });
  });

  test('sends the file again under the same idempotency key if the answer is lost', async () => {
    answer = (_, response) => {
      if (uploads.length > 1) return false;
      response.destroy();
      return true;
    };
    expect((await run('submit', 'batch.jsonl')).code).toBe(0);
    expect(new Set(uploads.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(uploads).toHaveLength(2);
  });

  test('says what the gateway refused, and does not send it again', async () => {
    answer = (_, response) => {
      json(response, 400, { error: { message: 'Line 2: `url` is missing.', code: 'missing_required_parameter' } });
      return true;
    };
    const ended = await run('submit', 'batch.jsonl');
    expect(ended).toMatchObject({ code: 1, out: '' });
    expect(ended.err).toContain('Line 2: `url` is missing. (missing_required_parameter)');
    expect(uploads).toHaveLength(1);
  });

  test.each([
    ['no such file', ['submit', 'none.jsonl'], 'There is no file none.jsonl.'],
    ['a file inside a file', ['submit', 'batch.jsonl/x'], 'There is no file batch.jsonl/x.'],
    ['an output without waiting', ['submit', 'batch.jsonl', '--out', 'x.jsonl'], '--out needs --wait'],
    ['an output that exists', ['submit', 'batch.jsonl', '--wait', '--out', 'batch.jsonl'], 'exists already'],
    ['a folder', ['submit', '.'], '. is not a file.'],
    [
      'an output in no folder',
      ['submit', 'batch.jsonl', '--wait', '--out', 'a/x.jsonl'],
      'Cannot write a/x.jsonl (ENOENT)',
    ],
    ['an output in a file', ['wait', GROUP, '--out', 'batch.jsonl/x'], 'Cannot write batch.jsonl/x (ENOTDIR)'],
    ['an output in no folder for a result', ['result', JOB, '--out', 'a/x.json'], 'Cannot write a/x.json (ENOENT)'],
    ['an invalid time', ['submit', 'batch.jsonl', '--not-before', 'soon'], '--not-before must be a date like'],
    [
      'a day that does not exist',
      ['submit', 'batch.jsonl', '--expires-at', '2027-02-31'],
      '--expires-at must be a date',
    ],
    ['a start too far ahead', ['submit', 'batch.jsonl', '--not-before', '31d'], '--not-before must be within 30 days'],
    [
      'an end in the past',
      ['submit', 'batch.jsonl', '--expires-at', '2020-01-01'],
      '--expires-at must be in the future',
    ],
    [
      'a start after the end',
      ['submit', 'batch.jsonl', '--not-before', '2h', '--expires-at', '1h'],
      '--not-before must be earlier than --expires-at',
    ],
    [
      'an invalid ceiling',
      ['submit', 'batch.jsonl', '--max-cost-nanousd', 'five'],
      '--max-cost-nanousd must be a whole number of nanodollars',
    ],
    [
      'a ceiling below nothing',
      ['submit', 'batch.jsonl', '--max-cost-nanousd=-1'],
      '--max-cost-nanousd must be from 0 to',
    ],
    [
      'a ceiling that is a negative nothing',
      ['submit', 'batch.jsonl', '--max-cost-nanousd=-0'],
      '--max-cost-nanousd must be a whole number of nanodollars',
    ],
    ['an unknown status', ['list', '--status', 'foo'], '--status must be one of scheduled, queued, running'],
    ['an invalid group', ['list', '--group', JOB], '--group must be an id like grp_…'],
    ['a page after no job', ['list', '--after', GROUP], '--after must be an id like job_…'],
    ['a page after no group', ['list', '--groups', '--after', JOB], '--after must be an id like grp_…'],
    ['a page of no rows', ['list', '--limit', '0'], '--limit must be a whole number from 1 to'],
    ['a status of groups', ['list', '--groups', '--status', 'failed'], 'Leave them out with --groups'],
  ])('refuses %s before it asks anything', async (_, args, message) => {
    const ended = await run(...args);
    expect([ended.code, ended.err.includes(message)]).toEqual([2, true]);
    expect(asked).toEqual([]);
  });
});

test('results that cannot be written name the command that gets them again', async () => {
  mkdirSync(`${out()}.${GROUP}.part`);
  const ended = await run('submit', 'batch.jsonl', '--wait', '--out', 'results.jsonl');
  expect(ended.code).toBe(1);
  const again = `tollgate jobs result ${GROUP} --url ${url} --out FILE`;
  expect(ended.err).toContain(`Cannot write ${out()} (EISDIR).\nTry: ${again}`);
});

describe('tollgate jobs wait', () => {
  test('continues a file where an interrupted command stopped, without its half line', async () => {
    let breaks = 1;
    answer = ({ url: path = '' }, response) => {
      if (!path.includes('/results') || breaks-- === 0) return false;
      response.write(`${LINES[0]}${LINES[1]!.slice(0, 10)}`, () => response.destroy());
      return true;
    };
    unfinished = 0;
    const broken = await run('wait', GROUP, '--out', 'results.jsonl');
    expect([broken.code, existsSync(out())]).toEqual([3, false]);
    const ended = await run('wait', GROUP, '--out', 'results.jsonl');
    expect(ended.code).toBe(0);
    expect(readFileSync(out(), 'utf8')).toBe(LINES.join(''));
    expect(asked.at(-1)).toBe(`GET /v1/jobs/groups/${GROUP}/results?after=job_1`);
  });

  test('is printed by submit as it has to be typed: with the gateway, the key and the file of the results', async () => {
    const ended = await run('submit', 'batch.jsonl', '--wait', '--out', 'my results.jsonl', '--key-env', 'OTHER');
    const flags = `--url ${url} --key-env OTHER --out 'my results.jsonl'`;
    expect(ended.err).toContain(`If this is interrupted: tollgate jobs wait ${GROUP} ${flags}`);
  });

  test('is printed with a quoted address where a shell would read it otherwise', async () => {
    url = `${url}/a&b`;
    const ended = await run('submit', 'batch.jsonl');
    expect(ended.err).toContain(`tollgate jobs wait ${GROUP} --url '${url}' --out`);
  });

  test('is printed as it was typed if the gateway stays away', async () => {
    answer = (_, response) => {
      response.destroy();
      return true;
    };
    const ended = await run('wait', GROUP, '--out', 'results.jsonl');
    expect(ended.code).toBe(3);
    expect(ended.err).toContain(`Try: tollgate jobs wait ${GROUP} --url ${url} --out results.jsonl`);
  });

  test('waits for a gateway that restarts', async () => {
    let misses = 3;
    answer = ({ url: path = '' }, response) => {
      if (path.includes('/results') || misses-- <= 0) return false;
      response.destroy();
      return true;
    };
    expect(await run('wait', GROUP)).toMatchObject({ code: 0, out: LINES.join('') });
  });
});

test('a job that is not there and a text that is not an id are refused', async () => {
  const missing = await run('show', JOB);
  expect(missing.code).toBe(1);
  expect(missing.err).toContain('There is no job with this id. (job_not_found)');
  expect((await run('show', '../keys')).code).toBe(2);
});

test('a group is shown with exact amounts, whatever its metadata are called', async () => {
  const { out: text } = await run('show', GROUP);
  expect(text).toContain('12345678901.23456');
  expect(text).toMatch(/waiting +2/);
});

test('without --url the gateway is asked that has the data folder, wherever it listens', async () => {
  const { port } = new URL(url);
  const holder = { pid: 7, socketPath: null, startedMs: 0 };
  for (const listening of [url, `http://0.0.0.0:${port}`]) {
    fixture.holder = { ...holder, url: listening };
    await fixture.run(['jobs', 'show', GROUP], { TOLLGATE_API_KEY: 'tg_live_x' });
  }
  expect(asked).toEqual([`GET /v1/jobs/groups/${GROUP}`, `GET /v1/jobs/groups/${GROUP}`]);
});

test('without --url no other gateway is asked if none has the data folder, and none gets the key', async () => {
  const { port } = new URL(url);
  const env = { TOLLGATE_API_KEY: 'tg_live_x', TOLLGATE_PORT: port };
  const command = { pid: 7, socketPath: null, startedMs: 0, url: null };
  for (const holder of [null, command]) {
    fixture.holder = holder;
    const { code, err } = await fixture.run(['jobs', 'show', GROUP], env);
    expect({ code, asked }).toEqual({ code: 3, asked: [] });
    expect(err).toBe(
      `No gateway is running on the data folder ${fixture.folder}. Start it, or name the address of another one with --url.\n`,
    );
  }
});

test('without --url and without a ledger of its own, a caller reaches the gateway at the port of the config', async () => {
  const env = { TOLLGATE_API_KEY: 'tg_live_x', TOLLGATE_PORT: new URL(url).port };
  await fixture.run(['jobs', 'show', GROUP, '--data', 'nowhere'], env);
  expect(asked).toEqual([`GET /v1/jobs/groups/${GROUP}`]);
});

test('writes the results of a group to standard output unchanged, wherever their bytes were cut on the way', async () => {
  const line = `{"id":"job_1","text":"${'é€😀'.repeat(10)}"}\n`;
  const bytes = Buffer.from(line);
  answer = ({ url: path = '' }, response) => {
    if (!path.includes('/results')) return false;
    let at = 0;
    const next = (): void => {
      if (at === bytes.length) response.end();
      else response.write(bytes.subarray(at, ++at), () => setImmediate(next));
    };
    next();
    return true;
  };
  expect((await fixture.run(['jobs', 'result', GROUP, '--url', url])).out).toBe(line);
});
