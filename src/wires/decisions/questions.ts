import { LIMITS } from '../../limits.ts';
import { isAbsent, isObject, type Members } from '../fields/members.ts';
import { missing, mustBe, untranslatable } from '../fields/request-errors.ts';
import { readInstructions } from './instructions.ts';

/** A checked question of this wire. */
export interface Question {
  /** Null if the caller gave none. */
  readonly name: string | null;
  /** Its name on `systemone`, where every question needs one. */
  readonly key: string;
  readonly type: 'predicate' | 'choice' | 'score';
  /** The same question in the form of `systemone`. */
  readonly older: Members;
  /** The values of a choice or the labels of a scale, in order; empty for a predicate. */
  readonly outcomes: readonly (string | boolean)[];
}

type Asked = Pick<Question, 'type' | 'older' | 'outcomes'>;

export function readQuestions(questions: unknown): Question[] {
  if (isAbsent(questions)) throw missing('questions', '`questions` is missing; send at least one question.');
  if (!Array.isArray(questions) || questions.length === 0 || questions.length > LIMITS.decisionQuestionsMax) {
    throw mustBe('questions', `a list of 1 to ${LIMITS.decisionQuestionsMax} questions`);
  }
  const names = readNames(questions);
  return questions.map((question, index) => {
    const name = names[index]!;
    return { name, key: name ?? freeName(index, names), ...readQuestion(question as Members, `questions[${index}]`) };
  });
}

function readNames(questions: readonly unknown[]): (string | null)[] {
  const seen = new Set<string>();
  return questions.map((question, index) => {
    const path = `questions[${index}]`;
    if (!isObject(question)) throw mustBe(path, 'an object with a `type`');
    const { name } = question;
    if (isAbsent(name)) return null;
    if (typeof name !== 'string' || name === '') throw mustBe(`${path}.name`, 'a string that is not empty');
    if (seen.has(name)) throw mustBe(`${path}.name`, 'the name of one question only');
    seen.add(name);
    return name;
  });
}

function freeName(index: number, names: readonly (string | null)[]): string {
  let name = `question_${index + 1}`;
  while (names.includes(name)) name += '_';
  return name;
}

function readQuestion(question: Members, path: string): Asked {
  const { type } = question;
  const instructions = readInstructions(question.instructions, `${path}.instructions`);
  const asked = instructions === null ? {} : { instructions };
  switch (type) {
    case 'predicate':
      refuseOthers(question, path, []);
      return { type, older: { type: 'noul', ...asked }, outcomes: [] };
    case 'choice': {
      refuseOthers(question, path, ['choices']);
      const { outcomes, criteria } = readChoices(question.choices, `${path}.choices`);
      return { type, older: { type, ...asked, criteria }, outcomes };
    }
    case 'score': {
      refuseOthers(question, path, ['levels']);
      const { outcomes, criteria } = readLevels(question.levels, `${path}.levels`);
      return { type, older: { type, ...asked, criteria }, outcomes };
    }
    default:
      throw mustBe(`${path}.type`, 'one of predicate, choice, score');
  }
}

/** `systemone` has no place for other members. */
function refuseOthers(question: Members, path: string, own: readonly string[]): void {
  for (const name of Object.keys(question)) {
    if (['type', 'name', 'instructions', ...own].includes(name) || isAbsent(question[name])) continue;
    throw untranslatable(`${path}.${name.slice(0, LIMITS.nameCharsMax)}`);
  }
}

/** Labels of `systemone` are strings, so `true` and "true" would be the same label. */
function readChoices(choices: unknown, path: string): { outcomes: (string | boolean)[]; criteria: Members } {
  const options = readOptions(choices, path, LIMITS.decisionLabelsMax, 'choices');
  const outcomes: (string | boolean)[] = [];
  const described = new Map<string, string | null>();
  options.forEach((choice, index) => {
    const { value } = choice;
    const at = `${path}[${index}].value`;
    if (typeof value !== 'string' && typeof value !== 'boolean') throw mustBe(at, 'a string, true or false');
    if (described.has(String(value))) throw mustBe(at, 'a value that no other choice has');
    outcomes.push(value);
    described.set(String(value), readDescription(choice, `${path}[${index}]`));
  });
  return { outcomes, criteria: Object.fromEntries(described) };
}

/** Puts the label before the description: `systemone` has one text per level. */
function readLevels(levels: unknown, path: string): { outcomes: string[]; criteria: string[] } {
  const outcomes: string[] = [];
  const criteria = readOptions(levels, path, LIMITS.decisionLevelsMax, 'levels').map((level, index) => {
    const { label } = level;
    if (typeof label !== 'string') throw mustBe(`${path}[${index}].label`, 'a string');
    outcomes.push(label);
    const description = readDescription(level, `${path}[${index}]`);
    return description === null ? label : `${label}: ${description}`;
  });
  return { outcomes, criteria };
}

function readOptions(options: unknown, path: string, most: number, what: string): Members[] {
  if (!Array.isArray(options) || options.length < 2 || options.length > most) {
    throw mustBe(path, `a list of 2 to ${most} ${what}`);
  }
  return options.map((option, index) => {
    if (!isObject(option)) throw mustBe(`${path}[${index}]`, 'an object');
    return option;
  });
}

function readDescription({ description }: Members, path: string): string | null {
  if (isAbsent(description)) return null;
  if (typeof description !== 'string') throw mustBe(`${path}.description`, 'a string');
  return description;
}
