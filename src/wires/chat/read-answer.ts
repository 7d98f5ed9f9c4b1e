import type { UsageReading } from '../../canonical/usage.ts';
import { editJson, tryParseJson } from '../../kit/json.ts';
import { type Bill, type BufferedAnswer, HostAnswerBroken, type RelayTerms } from '../wire.ts';
import { isObject } from './fields.ts';
import { HOST_MEMBERS, usageManner } from './manners.ts';
import { mendArguments, mendReasoning, modelBytes, removeMembers, splitContent } from './mend-choice.ts';
import { readUsage, writeUsage } from './usage.ts';

type Member = Record<string, unknown>;

/** Reads a whole answer; what it writes are the host's own bytes with `model` and `usage` replaced, unless more was wrong. */
export function readAnswer(body: Buffer, terms: RelayTerms, mended: boolean): BufferedAnswer {
  const answer = tryParseJson(body.toString('utf8'));
  if (!isObject(answer) || !Array.isArray(answer.choices)) {
    throw new HostAnswerBroken('The host answered with something that is no chat completion.');
  }
  const manner = usageManner(terms.manners);
  const rawUsage = manner.find(answer);
  const usage: UsageReading = readUsage(rawUsage, manner.rule);
  const changed = mended && mendAnswer(answer, terms);
  const relayedBytes = answer.choices.reduce<number>((sum, choice) => sum + choiceBytes(choice), 0);
  const write = (bill: Bill): Buffer => {
    const written = usageText(bill, rawUsage);
    const model = JSON.stringify(terms.catalogModel);
    if (!changed) return editJson(body).set(['model'], model).set(['usage'], written).apply();
    const { usage: _, ...rest } = answer;
    rest.model = terms.catalogModel;
    return Buffer.from(`${JSON.stringify(rest).slice(0, -1)},"usage":${written}}`);
  };
  return { usage, relayedBytes, write };
}

/** The exact integer is written as digits, never through a floating-point number. */
function usageText(bill: Bill, rawUsage: unknown): string {
  const usage = JSON.stringify({ ...writeUsage(bill.usage, rawUsage), cost: bill.costUsd });
  return `${usage.slice(0, -1)},"cost_nanousd":${bill.costNanousd}}`;
}

function choiceBytes(choice: unknown): number {
  return isObject(choice) && isObject(choice.message) ? modelBytes(choice.message) : 0;
}

function mendAnswer(answer: Member, terms: RelayTerms): boolean {
  let changed = removeMembers(answer, HOST_MEMBERS);
  if (typeof answer.id !== 'string' || answer.id === '') {
    answer.id = `chatcmpl-${terms.requestId}`;
    changed = true;
  }
  if (!Number.isSafeInteger(answer.created)) {
    answer.created = terms.createdS;
    changed = true;
  }
  for (const choice of answer.choices as unknown[]) {
    if (isObject(choice) && isObject(choice.message)) changed = mendMessage(choice, choice.message, terms) || changed;
  }
  return changed;
}

function mendMessage(choice: Member, message: Member, terms: RelayTerms): boolean {
  let changed = false;
  if (Array.isArray(message.content)) changed = splitContent(message, message.content);
  if (message.content === undefined) {
    message.content = null;
    changed = true;
  }
  changed = mendReasoning(message, terms.hideReasoning) || changed;
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isObject) : [];
  calls.forEach((call, index) => {
    changed = mendArguments(call) || changed;
    if (typeof call.id === 'string' && call.id !== '') return;
    call.id = `call_${terms.requestId}_${index}`;
    changed = true;
  });
  if (calls.length > 0 && choice.finish_reason === 'stop') {
    choice.finish_reason = 'tool_calls';
    changed = true;
  }
  return changed;
}

/** A host that cannot stream hands over its answer as one chunk of the same shape. */
export function answerAsStream(body: Buffer): Buffer | null {
  const answer = tryParseJson(body.toString('utf8'));
  if (!isObject(answer) || !Array.isArray(answer.choices)) return null;
  const { choices, usage, ...rest } = answer;
  const chunkChoices = choices
    .filter(isObject)
    .map(({ message, ...choice }) => ({ ...choice, delta: deltaOf(message) }));
  const chunk = { ...rest, object: 'chat.completion.chunk', choices: chunkChoices };
  const usageChunk = { ...rest, object: 'chat.completion.chunk', choices: [], usage: usage ?? null };
  return Buffer.from(`data: ${JSON.stringify(chunk)}\n\ndata: ${JSON.stringify(usageChunk)}\n\ndata: [DONE]\n\n`);
}

function deltaOf(message: unknown): Member {
  if (!isObject(message)) return {};
  if (!Array.isArray(message.tool_calls)) return message;
  return { ...message, tool_calls: message.tool_calls.filter(isObject).map((call, index) => ({ index, ...call })) };
}
