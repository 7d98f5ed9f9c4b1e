import { GatewayError } from '../../canonical/errors.ts';
import type { JsonText } from '../../kit/json.ts';
import { LIMITS } from '../../limits.ts';
import { readLabels } from '../labels.ts';
import { isAbsent, isObject, type Members } from '../members.ts';
import { readModel } from '../read-model.ts';
import { REFUSED_EVERYWHERE, refuseUnlessHarmless } from '../refused-fields.ts';
import { missing, mustBe } from '../request-errors.ts';
import type { Peek } from '../wire.ts';

export function peek(text: JsonText): Peek {
  const body = text.value;
  if (!isObject(body)) {
    throw new GatewayError('invalid_request_body', {
      message: 'The body must be a JSON object with `model` and `input`.',
    });
  }
  const model = readModel(body);
  for (const name of Object.keys(body)) {
    if (Object.hasOwn(REFUSED_EVERYWHERE, name)) refuseUnlessHarmless(REFUSED_EVERYWHERE, body, name);
  }
  const weight = weighInput(body.input);
  readFormat(body);
  return {
    model,
    stream: refuseStream(body),
    wantsUsageFrame: false,
    outputLimit: null,
    defaultOutputLimit: 0,
    answers: 1,
    prompts: weight.inputs,
    needs: [{ capability: 'embeddings', param: 'model' }],
    size: {
      textBytes: weight.textBytes,
      toolBytes: 0,
      messages: weight.inputs,
      tools: 0,
      images: 0,
      tokenIds: weight.tokenIds,
    },
    labels: readLabels(body),
    reasoning: null,
    dimensions: readDimensions(body),
  };
}

interface Weight {
  inputs: number;
  textBytes: number;
  tokenIds: number;
}

/** A string, a list of strings, one list of token ids, or a list of such lists. */
function weighInput(input: unknown): Weight {
  if (isAbsent(input)) throw missing('input', '`input` is missing; send a string or a list.');
  const weight: Weight = { inputs: 0, textBytes: 0, tokenIds: 0 };
  if (typeof input === 'string') addText(input, 'input', weight);
  else if (isTokens(input)) addTokens(input, weight);
  else if (Array.isArray(input) && input.length > 0) addBatch(input, weight);
  else throw mustBe('input', 'a string, a list of strings, or token ids');
  return weight;
}

function addBatch(input: readonly unknown[], weight: Weight): void {
  if (input.length > LIMITS.embeddingInputsMax) {
    throw mustBe('input', `a list of at most ${LIMITS.embeddingInputsMax} inputs`);
  }
  input.forEach((one, index) => {
    if (typeof one === 'string') addText(one, `input[${index}]`, weight);
    else if (isTokens(one)) addTokens(one, weight);
    else throw mustBe(`input[${index}]`, 'a string or a list of token ids');
  });
}

function addText(text: string, path: string, weight: Weight): void {
  if (text === '') throw mustBe(path, 'a string that is not empty');
  weight.inputs++;
  weight.textBytes += Buffer.byteLength(text);
}

function addTokens(tokens: readonly number[], weight: Weight): void {
  weight.inputs++;
  weight.tokenIds += tokens.length;
}

function isTokens(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => Number.isSafeInteger(one) && one >= 0);
}

function readDimensions({ dimensions }: Members): number | null {
  if (isAbsent(dimensions)) return null;
  if (Number.isSafeInteger(dimensions) && (dimensions as number) > 0) return dimensions as number;
  throw mustBe('dimensions', 'a positive integer');
}

function readFormat({ encoding_format: format }: Members): void {
  if (isAbsent(format) || format === 'float' || format === 'base64') return;
  throw mustBe('encoding_format', '"float" or "base64"');
}

function refuseStream({ stream }: Members): false {
  if (isAbsent(stream) || stream === false) return false;
  throw new GatewayError('unsupported_parameter', {
    param: 'stream',
    message: '`stream` is not supported on embeddings; leave it out.',
  });
}

/** Everything a tokenizer would read. */
export function texts(body: unknown): string[] {
  const input = isObject(body) ? body.input : undefined;
  return (Array.isArray(input) ? input : [input]).filter((one): one is string => typeof one === 'string');
}
