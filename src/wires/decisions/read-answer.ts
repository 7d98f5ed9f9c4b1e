import { isObject, type Members, objectsIn } from '../members.ts';
import { readDecision, readDecisionUsage, writeDecisionUsage } from '../typed-decision.ts';
import { type Bill, type BufferedAnswer, HostAnswerBroken, type RelayTerms } from '../wire.ts';
import { type Question, readQuestions } from './questions.ts';

/** The older spelling's answers, told in the order and the words of the questions. */
export function readAnswer(body: Buffer, { request }: RelayTerms): BufferedAnswer {
  const { model, answers, usage } = readDecision(body).value as Members;
  const asked = request as Members;
  const questions = readQuestions(asked.questions);
  const told = questions.map((question, index) =>
    tell(question, objectsIn(asked.questions)[index]!, answers as Members),
  );
  return {
    usage: readDecisionUsage(usage),
    relayedBytes: 0,
    write: (bill: Bill) => {
      const head = JSON.stringify({ model, answers: told }).slice(0, -1);
      return Buffer.from(`${head},"usage":${writeDecisionUsage(bill, usage)}}`);
    },
  };
}

function tell({ name, type }: Question, asked: Members, answers: Members): Members {
  const answer = answers[name];
  if (!isObject(answer)) throw new HostAnswerBroken(`The host left a question unanswered.`);
  if (type === 'predicate') return { name, type, probability: answer.noul };
  const probabilities = isObject(answer.probabilities) ? answer.probabilities : {};
  const { confidence } = answer;
  if (type === 'choice') {
    const shares = objectsIn(asked.choices).map(({ value }) => ({ value, probability: probabilities[String(value)] }));
    return { name, type, choice: answer.choice, probabilities: shares, confidence };
  }
  const shares = objectsIn(asked.levels).map(({ label }, level) => ({
    label,
    probability: probabilities[String(level)],
  }));
  return { name, type, score: answer.score, probabilities: shares, confidence };
}
