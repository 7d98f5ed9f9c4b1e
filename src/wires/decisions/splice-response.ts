import { inputTokens, type Usage } from '../../canonical/usage.ts';
import type { Members } from '../fields/members.ts';
import { ownObject, readDecision, readDecisionUsage, unanswered } from '../fields/typed-decision.ts';
import { cacheCounts } from '../usage/cache-counts.ts';
import { withCost } from '../usage/prompt-usage.ts';
import type { BufferedResponse, RelayTerms } from '../wire.ts';
import { type Question, readQuestions } from './questions.ts';

/** Converts the answers of `systemone` to the order and the names of the questions. */
export function spliceResponse(body: Buffer, { request, catalogModel, quirks }: RelayTerms): BufferedResponse {
  const questions = readQuestions((request as Members).questions);
  const keys = questions.map(({ key }) => key);
  const { model, answers, usage } = readDecision(body, keys).value as Members;
  const converted = questions.map((question) => convert(question, ownObject(answers as Members, question.key)!));
  const response = { model: typeof model === 'string' ? model : catalogModel, answers: converted };
  const head = JSON.stringify(response).slice(0, -1);
  return {
    usage: readDecisionUsage(usage, quirks),
    relayedBytes: 0,
    write: (bill) => Buffer.from(`${head},"usage":${withCost(writeUsage(bill.usage), bill)}}`),
  };
}

function convert({ name, type, outcomes }: Question, answer: Members): Members {
  if (answer.type === 'refusal') return { type: 'refusal', name };
  if (type === 'predicate') return { type, name, probability: numberIn(answer, 'noul') };
  const shares = ownObject(answer, 'probabilities') ?? {};
  const confidence = numberIn(answer, 'confidence');
  if (type === 'choice') {
    const choice = outcomes.find((value) => String(value) === answer.choice);
    if (choice === undefined) throw unanswered();
    const probabilities = outcomes.map((value) => ({ value, probability: shareOf(shares, String(value)) }));
    return { type, name, choice, probabilities, confidence };
  }
  const probabilities = outcomes.map((label, value) => ({ value, label, probability: shareOf(shares, String(value)) }));
  return { type, name, score: numberIn(answer, 'score'), probabilities, confidence };
}

function numberIn(answer: Members, name: string): number {
  const value = answer[name];
  if (!Number.isFinite(value)) throw unanswered();
  return value as number;
}

/** An outcome that the host left out has probability 0. */
function shareOf(shares: Members, outcome: string): number {
  const share = shares[outcome];
  return Number.isFinite(share) ? (share as number) : 0;
}

/** Clients of this wire expect every count. */
function writeUsage(usage: Usage): Members {
  const input = inputTokens(usage);
  return {
    input_tokens: input,
    input_tokens_details: cacheCounts(usage),
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: input + usage.outputTokens,
  };
}
