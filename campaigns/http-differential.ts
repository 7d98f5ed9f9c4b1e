import { readFlags } from '../test/read-flags.ts';
import { answerCampaign, type Report, requestCampaign } from './http-differential/campaign.ts';
import { ANSWER_DIFFERENCES, type DeliberateDifference, REQUEST_DIFFERENCES } from './http-differential/deliberate.ts';
import { readCount } from './read-count.ts';

/** Our HTTP/1.1 parser against Node's: generated and mutated messages, read by both. */

const PROGRESS_EVERY = 20_000;

async function main(): Promise<number> {
  const { values } = readFlags({
    options: {
      requests: { type: 'string', default: '300000' },
      answers: { type: 'string', default: '200000' },
      seed: { type: 'string', default: '1' },
      from: { type: 'string', default: '0' },
    },
  });
  const seed = readCount(values.seed, 'seed');
  const from = readCount(values.from, 'from');
  const requests = await requestCampaign({
    count: readCount(values.requests, 'requests'),
    seed,
    from,
    onProgress: (done) => sayProgress(done, 'requests'),
  });
  const answers = await answerCampaign({
    count: readCount(values.answers, 'answers'),
    seed,
    from,
    onProgress: (done) => sayProgress(done, 'answers'),
  });
  process.stdout.write(`seed ${seed}\n\n${describe('requests', requests)}\n${describe('answers', answers)}\n`);
  process.stdout.write(`deliberate differences: we accept, Node refuses\n${listDifferences()}\n`);
  return requests.disagreements + answers.disagreements === 0 ? 0 : 1;
}

function sayProgress(done: number, what: string): void {
  if (done % PROGRESS_EVERY === 0) process.stderr.write(`${done} ${what}\n`);
}

function describe(what: string, report: Report): string {
  const onlyNode = [...report.onlyNode].toSorted(([, a], [, b]) => b - a);
  const onlyOurs = [...report.onlyOurs].map(([{ name, reason }, count]) => line(count, `${name}: ${reason}`));
  return [
    line(report.cases, `cases of ${what}`),
    line(report.agreed, 'accepted by both, with the same reading'),
    line(report.neither, 'accepted by neither'),
    line(report.undecided, 'cut off in a body that Node refused early, before we had to'),
    line(sum(report.onlyNode.values()), 'accepted by Node only, by our reason:'),
    ...onlyNode.map(([reason, count]) => `  ${line(count, reason)}`),
    line(sum(report.onlyOurs.values()), 'accepted by us only, by the deliberate difference:'),
    ...onlyOurs.map((each) => `  ${each}`),
    line(report.disagreements, 'disagreements'),
    ...report.faults.map((fault) => `  ${fault}`),
    '',
  ].join('\n');
}

function listDifferences(): string {
  const list = (differences: readonly DeliberateDifference[], of: string): string[] =>
    differences.map(({ name, reason }) => `  ${of}: ${name}. ${reason}`);
  return [...list(REQUEST_DIFFERENCES, 'requests'), ...list(ANSWER_DIFFERENCES, 'answers')].join('\n');
}

function line(count: number, text: string): string {
  return `${String(count).padStart(9)}  ${text}`;
}

function sum(counts: Iterable<number>): number {
  let total = 0;
  for (const count of counts) total += count;
  return total;
}

process.exitCode = await main();
