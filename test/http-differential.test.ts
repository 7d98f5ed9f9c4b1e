import { describe, expect, test } from 'vitest';
import { answerCampaign, type Report, requestCampaign } from '../campaigns/http-differential/campaign.ts';
import { REQUEST_DIFFERENCES } from '../campaigns/http-differential/deliberate.ts';
import { readNodeAnswers } from '../campaigns/http-differential/node-answers.ts';
import { readNodeRequests } from '../campaigns/http-differential/node-requests.ts';
import { readOurAnswers, readOurRequests } from '../campaigns/http-differential/our-readers.ts';
import type {
  AnswerReader,
  AnswerReading,
  Pieces,
  ReadRequest,
  RequestReader,
} from '../campaigns/http-differential/reading.ts';
import { seedFrom } from './random.ts';
import { randomCases } from './random-cases.ts';

/** A short run of `npm run campaign:http-differential`, and proof that it finds a fault in either parser. */

const SEED = seedFrom(process.env, 20_261_118) % 1_000_000;
const REQUESTS = Math.max(1_500, randomCases(3_000));
const ANSWERS = Math.max(1_000, randomCases(2_000));
/** A seeded fault is looked for in rounds, and must be found before the last. */
const ROUNDS = 8;
const ROUND_CASES = 200;

function expectAgreement(report: Report, cases: number): void {
  expect(report.faults).toEqual([]);
  expect([report.cases, report.disagreements]).toEqual([cases, 0]);
  // A comparison of messages that nobody accepts would show nothing.
  expect(report.agreed).toBeGreaterThan(cases / 5);
  expect(report.onlyNode.size).toBeGreaterThan(3);
}

describe(`our HTTP/1.1 parser and Node's (TOLLGATE_SEED=${SEED})`, () => {
  test(`agree about ${REQUESTS} connections with generated and mutated requests`, async () => {
    const report = await requestCampaign({ count: REQUESTS, seed: SEED });
    expectAgreement(report, REQUESTS);
    // A deliberate difference that no case shows must be removed from the list.
    expect(report.onlyOurs.size).toBe(REQUEST_DIFFERENCES.length);
  });

  test(`agree about ${ANSWERS} generated and mutated answers`, async () => {
    expectAgreement(await answerCampaign({ count: ANSWERS, seed: SEED }), ANSWERS);
  });
});

type ChangeRequest = (request: ReadRequest) => ReadRequest;

function changingRequests(reader: RequestReader, change: ChangeRequest): RequestReader {
  return async (connections) => {
    const readings = await reader(connections);
    return readings.map(({ requests, refusal }) => ({ requests: requests.map(change), refusal }));
  };
}

function changingAnswers(reader: AnswerReader, change: (answer: AnswerReading) => AnswerReading): AnswerReader {
  return async (connections) => {
    const outcomes = await reader(connections);
    return outcomes.map(({ answer, refusal }) => ({ answer: answer === null ? null : change(answer), refusal }));
  };
}

/** A parser that does not see some bytes, as one that skips a check would not. */
function blindTo(reader: RequestReader, pattern: RegExp, seen: string): RequestReader {
  const blind = (pieces: Pieces): Pieces => {
    const text = Buffer.concat(pieces).toString('latin1');
    return pattern.test(text) ? [Buffer.from(text.replace(pattern, seen), 'latin1')] : pieces;
  };
  return (connections) => reader(connections.map(blind));
}

const withoutLastByte: ChangeRequest = (request) => ({ ...request, body: request.body.subarray(0, -1) });
const inLowerCase: ChangeRequest = (request) => ({ ...request, method: request.method.toLowerCase() });
const withoutRepeatedHeaders: ChangeRequest = (request) => {
  const seen = new Set<string>();
  const rawHeaders = request.rawHeaders.filter((_, at) => {
    const name = request.rawHeaders[at - (at % 2)]!.toLowerCase();
    if (at % 2 === 1) return !seen.has(`${name} twice`);
    if (seen.has(name)) seen.add(`${name} twice`);
    seen.add(name);
    return !seen.has(`${name} twice`);
  });
  return { ...request, rawHeaders };
};

async function isFound(runFrom: (from: number) => Promise<Report>): Promise<boolean> {
  for (let round = 0; round < ROUNDS; round++) {
    if ((await runFrom(round * ROUND_CASES)).disagreements > 0) return true;
  }
  return false;
}

describe('the comparison finds a seeded fault', () => {
  test.each<[string, { ours?: RequestReader; node?: RequestReader }]>([
    ['our parser drops a repeated header', { ours: changingRequests(readOurRequests, withoutRepeatedHeaders) }],
    ['our parser trims a byte of a body', { ours: changingRequests(readOurRequests, withoutLastByte) }],
    ['our parser changes a method', { ours: changingRequests(readOurRequests, inLowerCase) }],
    ['our parser does not check chunk extensions', { ours: blindTo(readOurRequests, /^([\da-f]+);.*\r$/gim, '$1\r') }],
    ['our parser takes line feeds for line ends', { ours: blindTo(readOurRequests, /(?<!\r)\n/g, '\r\n') }],
    [
      'our parser takes the last of two lengths',
      { ours: blindTo(readOurRequests, /content-length:.*\r\n(?=content-length)/gi, '') },
    ],
    ["Node's parser drops a repeated header", { node: changingRequests(readNodeRequests, withoutRepeatedHeaders) }],
    ["Node's parser trims a byte of a body", { node: changingRequests(readNodeRequests, withoutLastByte) }],
  ])(
    'in requests: %s',
    async (_, readers) => {
      expect(await isFound((from) => requestCampaign({ count: ROUND_CASES, from, seed: SEED, readers }))).toBe(true);
    },
    60_000,
  );

  test.each<[string, { ours?: AnswerReader; node?: AnswerReader }]>([
    [
      'our parser trims a byte of a body',
      { ours: changingAnswers(readOurAnswers, (answer) => ({ ...answer, body: answer.body.subarray(0, -1) })) },
    ],
    [
      'our parser loses a header',
      { ours: changingAnswers(readOurAnswers, (answer) => ({ ...answer, headers: answer.headers.slice(1) })) },
    ],
    [
      'our parser keeps every connection',
      { ours: changingAnswers(readOurAnswers, (answer) => ({ ...answer, keepsConnection: answer.wholeAt !== null })) },
    ],
    [
      'our parser takes any end for the whole',
      { ours: changingAnswers(readOurAnswers, (answer) => ({ ...answer, wholeAt: answer.wholeAt ?? 'close' })) },
    ],
    [
      "Node's parser changes a status",
      { node: changingAnswers(readNodeAnswers, (answer) => ({ ...answer, status: 200 })) },
    ],
  ])(
    'in answers: %s',
    async (_, readers) => {
      expect(await isFound((from) => answerCampaign({ count: ROUND_CASES, from, seed: SEED, readers }))).toBe(true);
    },
    60_000,
  );
});

test('a case is the same whenever it is made again from its seed and number', async () => {
  const once = await requestCampaign({
    count: 10,
    from: 40,
    seed: 3,
    readers: { ours: changingRequests(readOurRequests, inLowerCase) },
  });
  const again = await requestCampaign({
    count: 10,
    from: 40,
    seed: 3,
    readers: { ours: changingRequests(readOurRequests, inLowerCase) },
  });
  expect(once.faults.length).toBeGreaterThan(0);
  expect(again).toEqual(once);
});
