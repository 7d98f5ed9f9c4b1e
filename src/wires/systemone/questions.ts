import { LIMITS } from '../../limits.ts';
import { isAbsent, isObject, type Members } from '../fields/members.ts';
import { missing, mustBe, unsupported } from '../fields/request-errors.ts';
import { checkEntry } from '../fields/typed-decision.ts';

/** The three types of question: yes or no with a probability, one of several labels, a level on a scale. */
const KINDS = ['noul', 'choice', 'score'] as const;

/** Checks all questions; errors name the path `questions.<name>…`. */
export function checkQuestions(questions: unknown): void {
  if (isAbsent(questions)) throw missing('questions', '`questions` is missing; send at least one question.');
  if (!isObject(questions)) throw mustBe('questions', 'an object of questions by name');
  const names = Object.keys(questions);
  if (names.length === 0 || names.length > LIMITS.decisionQuestionsMax) {
    throw mustBe('questions', `1 to ${LIMITS.decisionQuestionsMax} questions`);
  }
  for (const name of names) checkQuestion(questions[name], `questions.${shortened(name)}`);
}

function checkQuestion(question: unknown, path: string): void {
  if (!isObject(question)) throw mustBe(path, 'an object with a `type`');
  const { type, instructions, criteria } = question;
  if (!KINDS.includes(type as (typeof KINDS)[number])) throw mustBe(`${path}.type`, `one of ${KINDS.join(', ')}`);
  checkEntry(instructions, `${path}.instructions`);
  if (type === 'noul') checkNoul(criteria, `${path}.criteria`);
  else if (type === 'choice') checkChoice(criteria, `${path}.criteria`);
  else checkScore(criteria, `${path}.criteria`);
}

function checkNoul(criteria: unknown, path: string): void {
  if (isAbsent(criteria)) return;
  if (!isObject(criteria)) throw mustBe(path, 'an object with `true` and `false`');
  for (const [name, text] of Object.entries(criteria)) {
    if (name !== 'true' && name !== 'false')
      throw unsupported(`${path}.${shortened(name)}`, `\`${path}\` accepts only \`true\` and \`false\`.`);
    checkEntry(text, `${path}.${name}`);
  }
}

function checkChoice(criteria: unknown, path: string): void {
  const labels = isObject(criteria) ? Object.keys(criteria) : [];
  if (labels.length < 2 || labels.length > LIMITS.decisionLabelsMax) {
    throw mustBe(path, `an object of 2 to ${LIMITS.decisionLabelsMax} labels`);
  }
  for (const label of labels) {
    checkEntry((criteria as Members)[label], `${path}.${shortened(label)}`);
  }
}

function checkScore(criteria: unknown, path: string): void {
  if (!Array.isArray(criteria) || criteria.length < 2 || criteria.length > LIMITS.decisionLevelsMax) {
    throw mustBe(path, `a list of 2 to ${LIMITS.decisionLevelsMax} levels`);
  }
  for (const [index, level] of criteria.entries()) checkEntry(level, `${path}[${index}]`);
}

/** Shortens a caller's name for a path in an error message. */
function shortened(name: string): string {
  return name.slice(0, LIMITS.nameCharsMax);
}
