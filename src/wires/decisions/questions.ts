import { LIMITS } from '../../limits.ts';
import { isAbsent, isObject, type Members } from '../members.ts';
import { missing, mustBe } from '../request-errors.ts';

/** A question of the newer spelling, checked. */
export interface Question {
  readonly name: string;
  readonly type: 'predicate' | 'choice' | 'score';
  /** The same question as the older spelling asks it. */
  readonly older: Members;
}

export function readQuestions(questions: unknown): Question[] {
  if (isAbsent(questions)) throw missing('questions', '`questions` is missing; ask at least one.');
  if (!Array.isArray(questions) || questions.length === 0 || questions.length > LIMITS.decisionQuestionsMax) {
    throw mustBe('questions', `a list of 1 to ${LIMITS.decisionQuestionsMax} questions`);
  }
  const read = questions.map((question, index) => readQuestion(question, `questions[${index}]`));
  const twice = read.findIndex(({ name }, index) => read.findIndex((other) => other.name === name) !== index);
  if (twice !== -1) throw mustBe(`questions[${twice}].name`, 'the name of one question only');
  return read;
}

function readQuestion(question: unknown, path: string): Question {
  if (!isObject(question)) throw mustBe(path, 'an object with a `type` and a `name`');
  const { type, name, instructions } = question;
  if (typeof name !== 'string' || name === '') throw mustBe(`${path}.name`, 'a string');
  if (!isAbsent(instructions) && typeof instructions !== 'string') throw mustBe(`${path}.instructions`, 'a string');
  const asked = isAbsent(instructions) ? {} : { instructions };
  if (type === 'predicate') return { name, type, older: { type: 'noul', ...asked } };
  if (type === 'choice')
    return { name, type, older: { type, ...asked, criteria: readChoices(question.choices, path) } };
  if (type === 'score') return { name, type, older: { type, ...asked, criteria: readLevels(question.levels, path) } };
  throw mustBe(`${path}.type`, 'one of predicate, choice, score');
}

function readChoices(choices: unknown, path: string): Members {
  if (!Array.isArray(choices) || choices.length < 2 || choices.length > LIMITS.decisionLabelsMax) {
    throw mustBe(`${path}.choices`, `a list of 2 to ${LIMITS.decisionLabelsMax} choices`);
  }
  return Object.fromEntries(
    choices.map((choice, index) => {
      if (!isObject(choice) || typeof choice.value !== 'string') {
        throw mustBe(`${path}.choices[${index}].value`, 'a string');
      }
      return [choice.value, typeof choice.description === 'string' ? choice.description : null];
    }),
  );
}

/** A level's label stands before its description, as the older spelling knows only one text a level. */
function readLevels(levels: unknown, path: string): string[] {
  if (!Array.isArray(levels) || levels.length < 2 || levels.length > LIMITS.decisionLevelsMax) {
    throw mustBe(`${path}.levels`, `a list of 2 to ${LIMITS.decisionLevelsMax} levels`);
  }
  return levels.map((level, index) => {
    if (!isObject(level) || typeof level.label !== 'string') throw mustBe(`${path}.levels[${index}].label`, 'a string');
    return typeof level.description === 'string' ? `${level.label}: ${level.description}` : level.label;
  });
}
