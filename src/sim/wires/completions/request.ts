import {
  areTokens,
  type Fields,
  isAbsent,
  readFlag,
  readIncludeUsage,
  readInteger,
  readModel,
  readStops,
} from '../../fields.ts';
import { refuse } from '../../reply.ts';
import { countTokens } from '../../tokens.ts';

export interface CompletionsRequest {
  readonly model: string;
  readonly prompts: readonly CompletionPrompt[];
  /** How many answers to each prompt are returned, and how many are generated. */
  readonly choices: number;
  readonly written: number;
  readonly outputTokensMax: number;
  readonly stops: readonly string[];
  readonly echo: boolean;
  /** Alternatives to report for each token; null: none requested. */
  readonly logprobs: number | null;
  readonly stream: boolean;
  readonly includeUsage: boolean;
}

export interface CompletionPrompt {
  readonly text: string;
  readonly tokens: number;
}

const OUTPUT_TOKENS_USUAL = 16;
const CHOICES_MAX = 128;
const LOGPROBS_MAX = 5;

export function readCompletionsRequest(body: Fields): CompletionsRequest {
  const stream = readFlag(body, 'stream', false);
  const choices = readInteger(body, 'n', 1, CHOICES_MAX) ?? 1;
  const suffix = readSuffix(body.suffix);
  return {
    model: readModel(body.model),
    prompts: readPrompts(body.prompt).map(({ text, tokens }) => ({ text, tokens: tokens + suffix })),
    choices,
    written: readBestOf(body, choices, stream),
    outputTokensMax: readInteger(body, 'max_tokens', 0) ?? OUTPUT_TOKENS_USUAL,
    stops: readStops(body.stop),
    echo: readFlag(body, 'echo', false),
    logprobs: readInteger(body, 'logprobs', 0, LOGPROBS_MAX),
    stream,
    includeUsage: readIncludeUsage(body, stream),
  };
}

/** Read like a prompt, so billed like one. */
function readSuffix(suffix: unknown): number {
  if (isAbsent(suffix)) return 0;
  if (typeof suffix === 'string') return countTokens(suffix);
  return refuse('invalid_type', 'suffix', "Invalid type for 'suffix': expected a string.");
}

function readBestOf(body: Fields, choices: number, stream: boolean): number {
  const bestOf = readInteger(body, 'best_of', 1, CHOICES_MAX);
  if (bestOf === null) return choices;
  if (bestOf < choices) refuse('invalid_value', 'best_of', "'best_of' must be at least 'n'.");
  if (stream && bestOf > choices) refuse('invalid_value', 'best_of', "'best_of' results cannot be streamed.");
  return bestOf;
}

/** Four forms, told apart by their first entry: text, a list of texts, tokens, a list of tokens. */
function readPrompts(prompt: unknown): CompletionPrompt[] {
  if (isAbsent(prompt)) return [promptOfText('')];
  if (typeof prompt === 'string') return [promptOfText(prompt)];
  if (!Array.isArray(prompt) || prompt.length === 0) return invalidPrompt();
  if (prompt.every((entry) => typeof entry === 'string')) return prompt.map(promptOfText);
  if (areTokens(prompt)) return [promptOfTokens(prompt)];
  return prompt.map((entry) => (areTokens(entry) ? promptOfTokens(entry) : invalidPrompt()));
}

function invalidPrompt(): never {
  return refuse('invalid_type', 'prompt', "Invalid 'prompt': expected text, tokens, or a list of either.");
}

function promptOfText(text: string): CompletionPrompt {
  return { text, tokens: countTokens(text) };
}

/** The simulator cannot decode another tokenizer's tokens, so it lists their numbers. */
function promptOfTokens(tokens: readonly number[]): CompletionPrompt {
  return { text: tokens.map((token) => `<${token}>`).join(''), tokens: tokens.length };
}
