import { GatewayError } from '../canonical/errors.ts';
import { type UsageReading, ZERO_USAGE } from '../canonical/usage.ts';
import { type JsonText, readJson } from '../kit/json.ts';
import { readLabels } from './labels.ts';
import { isAbsent, isCount, isObject, type Members } from './members.ts';
import { REFUSED_EVERYWHERE, refuseUnlessHarmless } from './refused-fields.ts';
import { type Bill, HostAnswerBroken, type Peek } from './wire.ts';

/** What both spellings of a typed decision share: input is billed by what is sent, output is free. */
export function decisionPeek(model: string, body: Members, bytes: number): Peek {
  for (const name of Object.keys(body)) {
    if (Object.hasOwn(REFUSED_EVERYWHERE, name)) refuseUnlessHarmless(REFUSED_EVERYWHERE, body, name);
  }
  if (!isAbsent(body.stream) && body.stream !== false) {
    throw new GatewayError('unsupported_parameter', {
      param: 'stream',
      message: '`stream` is not supported on typed decisions; leave it out.',
    });
  }
  return {
    model,
    stream: false,
    wantsUsageFrame: false,
    outputLimit: null,
    defaultOutputLimit: 0,
    answers: 1,
    needs: [{ capability: 'decisions', param: 'model' }],
    // Questions are written out for the model, names and criteria alike, so the whole body weighs as schema.
    size: { textBytes: 0, toolBytes: bytes, messages: 1, tools: 0, images: 0, tokenIds: 0 },
    labels: readLabels(body),
    reasoning: null,
  };
}

/** A host's answer, or the error that says it is none. */
export function readDecision(body: Buffer): JsonText {
  let text: JsonText | null = null;
  try {
    text = readJson(body);
  } catch {
    // Said below, as for any other answer that is none.
  }
  if (text !== null && isObject(text.value) && isObject(text.value.answers)) return text;
  throw new HostAnswerBroken('The host answered with something that has no answers.');
}

/** Output is free, but counted; only the input is billed. */
export function readDecisionUsage(raw: unknown): UsageReading {
  if (!isObject(raw)) return { state: 'missing' };
  const { input_tokens: input, output_tokens: output = 0 } = raw;
  if (!isCount(input) || !isCount(output)) return { state: 'missing', defect: "the host's tokens are no counts" };
  return { state: 'reported', usage: { ...ZERO_USAGE, freshTokens: input, outputTokens: output } };
}

export function writeDecisionUsage({ usage, costUsd, costNanousd }: Bill, raw: unknown): string {
  const counted = {
    ...(isObject(raw) ? raw : {}),
    input_tokens: usage.freshTokens + usage.cacheReadTokens,
    output_tokens: usage.outputTokens,
    cost: costUsd,
  };
  return `${JSON.stringify(counted).slice(0, -1)},"cost_nanousd":${costNanousd}}`;
}
