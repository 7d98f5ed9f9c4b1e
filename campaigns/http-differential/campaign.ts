import { compareAnswers, compareRequests, sameAnswer, sameRequests, type Verdict } from './compare.ts';
import { ANSWER_DIFFERENCES, type DeliberateDifference, REQUEST_DIFFERENCES } from './deliberate.ts';
import { answerCase, type Case, cutAt, requestCase } from './generate.ts';
import { readNodeAnswers } from './node-answers.ts';
import { readNodeRequests } from './node-requests.ts';
import { readOurAnswers, readOurRequests } from './our-readers.ts';
import type { AnswerReader, Pieces, RequestReader } from './reading.ts';

interface Terms<Reader> {
  readonly count: number;
  readonly seed: number;
  /** The number of the first case; every case can be generated from the seed and its number. */
  readonly from?: number;
  /** Readers that replace the real ones, for tests of the comparison itself. */
  readonly readers?: { readonly ours?: Reader; readonly node?: Reader };
  onProgress?(done: number): void;
}

export interface Report {
  cases: number;
  /** Both readers accepted the same messages. */
  agreed: number;
  /** Both readers refused everything. */
  neither: number;
  /** Node refused a body early; the bytes ended before we had to. */
  undecided: number;
  /** Cases in which Node went on where we refused, by our reason. */
  readonly onlyNode: Map<string, number>;
  /** Cases in which we went on where Node refused, by the deliberate difference that covers them. */
  readonly onlyOurs: Map<DeliberateDifference, number>;
  disagreements: number;
  /** The first disagreements, in words. */
  readonly faults: string[];
}

const BATCH = 200;
const FAULTS_KEPT = 20;
const FAULT_CHARACTERS = 600;

/** Gives the same requests to our parser and to Node's, and reports where they differ. */
export async function requestCampaign(terms: Terms<RequestReader>): Promise<Report> {
  const ours = terms.readers?.ours ?? readOurRequests;
  const node = terms.readers?.node ?? readNodeRequests;
  return compareAll(terms, REQUEST_DIFFERENCES, requestCase, async (cases) => {
    const whole = await ours(cases.map(({ bytes }) => [bytes]));
    const pieces = cases.map(({ bytes, cuts }) => cutAt(bytes, cuts));
    const [our, their] = [await ours(pieces), await node(pieces)];
    return cases.map((_, at): Verdict => {
      if (!sameRequests(whole[at]!, our[at]!)) return dependsOnCuts(whole[at], our[at]);
      return compareRequests(our[at]!, their[at]!);
    });
  });
}

/** The same for answers. They are also cut where ours ends, so that the readers must agree about that byte. */
export async function answerCampaign(terms: Terms<AnswerReader>): Promise<Report> {
  const ours = terms.readers?.ours ?? readOurAnswers;
  const node = terms.readers?.node ?? readNodeAnswers;
  return compareAll(terms, ANSWER_DIFFERENCES, answerCase, async (cases) => {
    const single = await ours(cases.map(({ bytes }) => singleBytes(bytes)));
    const pieces = cases.map(({ bytes, cuts }, at) => {
      const end = single[at]!.answer?.wholeAt;
      return cutAt(bytes, typeof end === 'number' ? [...cuts, end, end + 1] : cuts);
    });
    const [our, their] = [await ours(pieces), await node(pieces)];
    return cases.map((_, at): Verdict => {
      if (!sameAnswer(single[at]!, our[at]!)) return dependsOnCuts(single[at], our[at]);
      return compareAnswers(our[at]!, their[at]!);
    });
  });
}

function singleBytes(bytes: Buffer): Pieces {
  return Array.from({ length: bytes.length }, (_, at) => bytes.subarray(at, at + 1));
}

function dependsOnCuts(one: unknown, other: unknown): Verdict {
  const what = `we read it differently when it is cut: ${JSON.stringify(one)} and ${JSON.stringify(other)}`;
  return { kind: 'disagreement', what };
}

async function compareAll(
  terms: Pick<Terms<unknown>, 'count' | 'seed' | 'from' | 'onProgress'>,
  differences: readonly DeliberateDifference[],
  makeCase: (seed: number, number: number) => Case,
  judge: (cases: readonly Case[]) => Promise<Verdict[]>,
): Promise<Report> {
  const report = newReport();
  const from = terms.from ?? 0;
  for (let done = 0; done < terms.count; ) {
    const numbers = Array.from({ length: Math.min(BATCH, terms.count - done) }, (_, at) => from + done + at);
    const cases = numbers.map((number) => makeCase(terms.seed, number));
    const verdicts = await judge(cases);
    for (const [at, verdict] of verdicts.entries()) {
      const fault = count(report, verdict, differences);
      if (fault === null) continue;
      report.disagreements++;
      if (report.faults.length >= FAULTS_KEPT) continue;
      const text = JSON.stringify(cases[at]!.bytes.toString('latin1'));
      report.faults.push(
        `case ${numbers[at]}: ${fault.slice(0, FAULT_CHARACTERS)}\n  ${text.slice(0, FAULT_CHARACTERS)}`,
      );
    }
    done += cases.length;
    report.cases = done;
    terms.onProgress?.(done);
  }
  return report;
}

function newReport(): Report {
  return {
    cases: 0,
    agreed: 0,
    neither: 0,
    undecided: 0,
    onlyNode: new Map(),
    onlyOurs: new Map(),
    disagreements: 0,
    faults: [],
  };
}

/** Null if the readers agree as they should; otherwise what is wrong. */
function count(report: Report, verdict: Verdict, differences: readonly DeliberateDifference[]): string | null {
  switch (verdict.kind) {
    case 'agreed':
    case 'neither':
    case 'undecided':
      report[verdict.kind]++;
      return null;
    case 'only-node':
      addOne(report.onlyNode, verdict.refusal);
      return null;
    case 'only-ours': {
      const { refusal, accepted } = verdict;
      const difference = differences.find((each) => each.covers(refusal, accepted));
      if (difference === undefined) return `Node says ${refusal}, but we accept ${JSON.stringify(accepted)}`;
      addOne(report.onlyOurs, difference);
      return null;
    }
    case 'disagreement':
      return verdict.what;
  }
}

function addOne<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
