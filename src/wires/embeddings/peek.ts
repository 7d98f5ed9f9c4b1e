import { GatewayError } from '../../canonical/errors.ts';
import type { PromptTexts } from '../../canonical/prompt-size.ts';
import type { JsonText } from '../../json/json.ts';
import { LIMITS } from '../../limits.ts';
import { readLabels } from '../fields/labels.ts';
import { isAbsent, isObject, type Members } from '../fields/members.ts';
import { TextCollector, visitUnknown } from '../fields/prompt-visitor.ts';
import { readModel } from '../fields/read-model.ts';
import { missing, mustBe } from '../fields/request-errors.ts';
import { measureBatch, readTextInputs, type TextInput } from '../fields/text-inputs.ts';
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
    size: { ...measureBatch(inputs, sharedTexts(body, unknownFields)), tools: 0 },
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
  const shared = new TextCollector();
  for (const name of unknownFields) visitUnknown(body[name], shared);
  return shared.texts;
}

/** The texts of the inputs, for a token count. */
export function texts(text: JsonText): PromptTexts {
  const body = text.value as Members;
  const shared = sharedTexts(body, checkFields(body));
  return {
    texts: readInputs(body).flatMap((input) => (typeof input === 'string' ? [input, ...shared] : shared)),
    toolTexts: [],
  };
}
