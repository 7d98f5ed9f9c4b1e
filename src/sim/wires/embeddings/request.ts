import { areTokens, type Fields, isAbsent, readModel } from '../../fields.ts';
import { RefusedRequest, refuse } from '../../reply.ts';
import { countTokens } from '../../tokens.ts';
import { EMBEDDING_DIMENSIONS } from './vector.ts';

export interface EmbeddingsRequest {
  readonly model: string;
  readonly inputs: readonly EmbeddingInput[];
  readonly dimensions: number;
  readonly base64: boolean;
}

export interface EmbeddingInput {
  /** Tells inputs apart. */
  readonly key: string;
  readonly tokens: number;
}

const INPUTS_MAX = 2048;
const INPUT_TOKENS_MAX = 8192;

export function readEmbeddingsRequest(body: Fields): EmbeddingsRequest {
  const model = readModel(body.model);
  return {
    model,
    inputs: readInputs(body.input),
    dimensions: readDimensions(body.dimensions, model),
    base64: readEncoding(body.encoding_format, model),
  };
}

function readInputs(input: unknown): EmbeddingInput[] {
  if (isAbsent(input)) return refuse('missing_required_parameter', 'input', "Missing required parameter: 'input'.");
  const entries: unknown[] = Array.isArray(input) && !areTokens(input) ? input : [input];
  if (entries.length === 0 || entries.length > INPUTS_MAX) {
    refuse('invalid_value', 'input', `Invalid 'input': expected 1 to ${INPUTS_MAX} inputs.`);
  }
  return entries.map((entry) => readInput(entry));
}

function readInput(entry: unknown): EmbeddingInput {
  const isText = typeof entry === 'string' && entry !== '';
  if (!isText && !areTokens(entry)) return plainly("'$.input' is invalid. Please check the API reference.");
  const read = isText
    ? { key: `text ${entry}`, tokens: countTokens(entry) }
    : { key: `tokens ${(entry as number[]).join(' ')}`, tokens: (entry as number[]).length };
  if (read.tokens <= INPUT_TOKENS_MAX) return read;
  return plainly(
    `This model's maximum context length is ${INPUT_TOKENS_MAX} tokens, however you requested ${read.tokens} tokens ` +
      `(${read.tokens} in your prompt; 0 for the completion). Please reduce your prompt; or completion length.`,
  );
}

/** Most hosts do not support `dimensions`, so a gateway has to reduce; models with `mrl` in their name do. */
function readDimensions(dimensions: unknown, model: string): number {
  if (isAbsent(dimensions)) return EMBEDDING_DIMENSIONS;
  if (!model.includes('mrl')) return plainly('This model does not support specifying dimensions.');
  const isPossible = Number.isSafeInteger(dimensions) && (dimensions as number) >= 1;
  if (isPossible && (dimensions as number) <= EMBEDDING_DIMENSIONS) return dimensions as number;
  return plainly(`Invalid value for 'dimensions' = ${dimensions}. Must be from 1 to ${EMBEDDING_DIMENSIONS}.`);
}

/** Some hosts support one encoding only and use it whatever was requested. */
function readEncoding(format: unknown, model: string): boolean {
  if (!isAbsent(format) && format !== 'float' && format !== 'base64') {
    refuse('invalid_value', 'encoding_format', "Invalid 'encoding_format': expected 'float' or 'base64'.");
  }
  if (model.includes('floats')) return false;
  return model.includes('base64') || format === 'base64';
}

/** On this wire the vendor's errors do not name the field. */
function plainly(message: string): never {
  throw new RefusedRequest({ status: 400, message, type: 'invalid_request_error', code: null, param: null });
}
