import type { PromptSize } from '../../canonical/prompt-size.ts';
import { normalizedBytes } from '../../kit/normalized-bytes.ts';
import { mustBe } from './request-errors.ts';

/** One input: a text, or a list of token ids. */
export type TextInput = string | readonly number[];

/** A string, a list of strings, one list of token ids, or a list of such lists; a bare list of ids is one input. */
export function readTextInputs(value: unknown, field: string, inputsMax: number): readonly TextInput[] {
  if (typeof value === 'string' || isTokens(value)) return [value];
  if (!Array.isArray(value) || value.length === 0) throw mustBe(field, 'a string, a list of strings, or token ids');
  if (value.length > inputsMax) throw mustBe(field, `a list of at most ${inputsMax} inputs`);
  value.forEach((one, index) => {
    if (typeof one !== 'string' && !isTokens(one))
      throw mustBe(`${field}[${index}]`, 'a string or a list of token ids');
  });
  return value;
}

function isTokens(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => Number.isSafeInteger(one) && one >= 0);
}

/** The number of inputs in a checked value. */
export function countTextInputs(value: unknown): number {
  return Array.isArray(value) && typeof value[0] !== 'number' ? value.length : 1;
}

type InputsSize = Required<Pick<PromptSize, 'textBytes' | 'chars' | 'normalizedExtraBytes' | 'tokenIds'>>;

/** The size of a batch. The host reads each input together with the shared texts and the schema. */
export function measureBatch(
  inputs: readonly TextInput[],
  shared: readonly string[],
  schema = '',
): Omit<PromptSize, 'tools'> {
  const own = measureTextInputs(inputs);
  const each = measureTextInputs(shared);
  const textBytes = own.textBytes + each.textBytes * inputs.length;
  const toolBytes = Buffer.byteLength(schema) * inputs.length;
  const chars = own.chars + (each.chars + schema.length) * inputs.length;
  const normalizedExtraBytes = own.normalizedExtraBytes + each.normalizedExtraBytes * inputs.length;
  return {
    textBytes,
    toolBytes,
    messages: inputs.length,
    images: 0,
    tokenIds: own.tokenIds,
    ...(chars < textBytes + toolBytes && { chars }),
    ...(normalizedExtraBytes > 0 && { normalizedExtraBytes }),
  };
}

/** Bytes and characters of texts, and token ids. */
function measureTextInputs(inputs: readonly TextInput[]): InputsSize {
  let textBytes = 0;
  let chars = 0;
  let normalizedExtraBytes = 0;
  let tokenIds = 0;
  for (const input of inputs) {
    if (typeof input === 'string') {
      const bytes = Buffer.byteLength(input);
      textBytes += bytes;
      chars += input.length;
      normalizedExtraBytes += normalizedBytes(input) - bytes;
    } else tokenIds += input.length;
  }
  return { textBytes, chars, normalizedExtraBytes, tokenIds };
}
