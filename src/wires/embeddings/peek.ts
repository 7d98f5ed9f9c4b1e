import { GatewayError } from '../../canonical/errors.ts';
import type { JsonText } from '../../json/json.ts';
import { LIMITS } from '../../limits.ts';
import { readLabels } from '../fields/labels.ts';
import { isAbsent, isObject, type Members } from '../fields/members.ts';
import { PromptTexts, visitUnknown } from '../fields/prompt-visitor.ts';
import { readModel } from '../fields/read-model.ts';
import { missing, mustBe } from '../fields/request-errors.ts';
import { measureTextInputs, readTextInputs, type TextInput } from '../fields/text-inputs.ts';
import type { Peek } from '../peek.ts';
import { checkFields } from './fields.ts';

export function peek(text: JsonText): Peek {
  const body = text.value;
  if (!isObject(body)) {
    throw new GatewayError('invalid_request_body', {
      message: 'The body must be a JSON object with `model` and `input`.',
    });
  }
  const model = readModel(body);
  const unknownFields = checkFields(body);
  const inputs = readInputs(body);
  const { textBytes, tokenIds } = measureTextInputs(inputs);
  const shared = measureTextInputs(sharedTexts(body, unknownFields)).textBytes;
  return {
    model,
    stream: false,
    wantsUsageFrame: false,
    promptParam: 'input',
    outputLimit: null,
    defaultOutputLimit: 0,
    answers: 1,
    prompts: inputs.length,
    needs: [{ capability: 'embeddings', param: 'model' }],
    size: {
      textBytes: textBytes + shared * inputs.length,
      toolBytes: 0,
      messages: inputs.length,
      tools: 0,
      images: 0,
      tokenIds,
    },
    labels: readLabels(body),
    reasoning: null,
    dimensions: isAbsent(body.dimensions) ? null : (body.dimensions as number),
  };
}

function readInputs({ input }: Members): readonly TextInput[] {
  if (isAbsent(input)) throw missing('input', '`input` is missing; send a string or a list.');
  const inputs = readTextInputs(input, 'input', LIMITS.embeddingInputsMax);
  const empty = inputs.indexOf('');
  if (empty === -1) return inputs;
  throw mustBe(Array.isArray(input) ? `input[${empty}]` : 'input', 'a string that is not empty');
}

/** Unknown fields: the host may read each input together with them, like an instruction. */
function sharedTexts(body: Members, unknownFields: readonly string[]): string[] {
  const shared = new PromptTexts();
  for (const name of unknownFields) visitUnknown(body[name], shared);
  return shared.found;
}

/** All text of the prompt, for an exact token count. */
export function texts(body: unknown): string[] {
  if (!isObject(body)) return [];
  const shared = sharedTexts(body, checkFields(body));
  return readInputs(body).flatMap((input) => (typeof input === 'string' ? [input, ...shared] : shared));
}
