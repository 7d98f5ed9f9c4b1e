import type { CachedPrefix } from './prefix-memory.ts';
import { type Effort, type Prompt, type PromptMessage, type PromptTool, windowOf } from './prompt.ts';
import { exampleOf } from './schema-example.ts';
import type { ScriptedCall, SimScript } from './script.ts';
import { takeTokens } from './tokens.ts';
import { toolsToCall } from './tool-use.ts';
import { type ScriptedAnswer, scriptedTurn } from './turns.ts';

/** What the simulated model answers, before a wire writes it as frames. */
export interface Answer {
  readonly choices: readonly Choice[];
  readonly usage: Usage;
}

export interface Choice {
  readonly reasoning: string;
  readonly reasoningTokens: number;
  /** Null if the choice consists of tool calls only. */
  readonly text: string | null;
  /** The text is a refusal. */
  readonly refused: boolean;
  readonly calls: readonly ToolCall[];
  readonly outputTokens: number;
  readonly finish: Finish;
  /** The caller's stop sequence that ended the text. */
  readonly stop: string | null;
}

export interface ToolCall {
  readonly name: string;
  readonly arguments: string;
}

type Finish = 'stop' | 'length' | 'tool_calls';

/** The input counts, known before the first token of output. */
export interface AskedUsage extends CachedPrefix {
  readonly promptTokens: number;
}

export interface Usage extends AskedUsage {
  readonly outputTokens: number;
  /** Part of outputTokens. */
  readonly reasoningTokens: number;
}

/** The start of a tool call (its id and name) is one token, so that a limit can fall before or after it. */
export const CALL_OPENING_TOKENS = 1;

const QUOTE_UNITS_MAX = 80;

const REASONING_WORDS: Record<Effort, number> = {
  none: 0,
  minimal: 8,
  low: 16,
  medium: 32,
  high: 64,
  xhigh: 96,
  max: 128,
};

/** Every word is one token, so n words are n tokens. */
const ANSWER_WORDS = 'this is a made up answer of the mock host one word after another until the count is full'.split(
  ' ',
);
const THOUGHT_WORDS = 'the mock host thinks about this step by step and weighs what was asked before it replies'.split(
  ' ',
);

/** Deterministic: the same request gets the same answer. `count` choices, each within the caller's limit and the window. */
export function composeAnswer(prompt: Prompt, script: SimScript, count: number, asked: AskedUsage): Answer {
  const room = windowOf(prompt.model) - asked.promptTokens;
  const tokensMax = Math.min(prompt.outputTokensMax ?? room, room);
  const choices: Choice[] = [];
  for (let index = 0; index < count; index++) choices.push(composeChoice(prompt, script, index, tokensMax));
  return { choices, usage: sumUsage(choices, asked) };
}

function composeChoice(prompt: Prompt, script: SimScript, index: number, tokensMax: number): Choice {
  const reasoning = takeWords(THOUGHT_WORDS, REASONING_WORDS[prompt.effort]);
  const scripted = scriptedAnswer(prompt, script);
  const calls = callsOf(prompt, scripted);
  if (calls.length > 0) return limitCalls(reasoning, calls, tokensMax);
  const text = scripted !== null && 'text' in scripted ? scripted.text : composeText(prompt, index);
  const said = cutAtStop(text, prompt.stops);
  return limitText(reasoning, said, script.refusal !== undefined, tokensMax);
}

function scriptedAnswer(prompt: Prompt, script: SimScript): ScriptedAnswer | null {
  const text = script.refusal ?? script.text;
  if (text !== undefined) return { text };
  if (script.words !== undefined) return { text: takeWords(ANSWER_WORDS, script.words) };
  return scriptedTurn(prompt, script);
}

function callsOf(prompt: Prompt, scripted: ScriptedAnswer | null): readonly ToolCall[] {
  if (scripted === null) return toolsToCall(prompt).map(exampleCall);
  return 'calls' in scripted ? scripted.calls.map(writeCall) : [];
}

function composeText(prompt: Prompt, index: number): string {
  const { format } = prompt;
  if (format.kind === 'schema') return JSON.stringify(exampleOf(format.schema));
  if (format.kind === 'object') return JSON.stringify({ simulated: true, answer_to: quoteOfAsker(prompt) });
  const text = prompt.messages.at(-1)?.role === 'tool' ? answerToTools(prompt) : answerToAsker(prompt);
  return index === 0 ? text : `${text} (choice ${index + 1})`;
}

function answerToAsker(prompt: Prompt): string {
  return (
    `This is a simulated answer to: "${quoteOfAsker(prompt)}". No model was called; ` +
    'the simulated upstream wrote this so that you can see calls, streams and receipts work.'
  );
}

function answerToTools(prompt: Prompt): string {
  const results: string[] = [];
  for (const message of trailingResults(prompt.messages)) {
    results.push(`${nameOfCall(prompt, message.toolCallId)} said "${quote(message.text)}"`);
  }
  return `This is a simulated answer from the tool results: ${results.join(', ')}.`;
}

function trailingResults(messages: readonly PromptMessage[]): readonly PromptMessage[] {
  const before = messages.findLastIndex((message) => message.role !== 'tool');
  return messages.slice(before + 1);
}

function nameOfCall(prompt: Prompt, id: string | null): string {
  for (const message of prompt.messages) {
    for (const call of message.toolCalls) if (call.id === id) return call.name;
  }
  return 'a tool';
}

function quoteOfAsker(prompt: Prompt): string {
  const asked = prompt.messages.findLast((message) => message.role === 'user') ?? prompt.messages.at(-1);
  return quote(asked?.text ?? '');
}

function quote(text: string): string {
  // Cut first: collapsing the white space of a very long prompt to quote one line of it would be slow.
  const start = text
    .slice(0, QUOTE_UNITS_MAX * 2)
    .replace(/\s+/g, ' ')
    .trim();
  if (start.length <= QUOTE_UNITS_MAX && text.length <= QUOTE_UNITS_MAX * 2) return start.toWellFormed();
  return `${start.slice(0, QUOTE_UNITS_MAX).replace(/[\ud800-\udbff]$/, '')}...`.toWellFormed();
}

function exampleCall(tool: PromptTool): ToolCall {
  return { name: tool.name, arguments: JSON.stringify(exampleOf(tool.schema)) };
}

function writeCall({ name, arguments: given }: ScriptedCall): ToolCall {
  return { name, arguments: typeof given === 'string' ? given : JSON.stringify(given) };
}

function takeWords(words: readonly string[], count: number): string {
  const rounds = Math.floor(count / words.length);
  const whole = rounds === 0 ? '' : `${words.join(' ')} `.repeat(rounds);
  return (whole + words.slice(0, count % words.length).join(' ')).trimEnd();
}

interface Said {
  readonly text: string;
  readonly stop: string | null;
}

function cutAtStop(text: string, stops: readonly string[]): Said {
  let end = text.length;
  let hit: string | null = null;
  for (const stop of stops) {
    const at = text.indexOf(stop);
    if (at === -1 || at >= end) continue;
    end = at;
    hit = stop;
  }
  return { text: hit === null ? text : text.slice(0, end), stop: hit };
}

function limitText(reasoning: string, said: Said, refused: boolean, tokensMax: number): Choice {
  const thought = takeTokens(reasoning, tokensMax);
  const given = takeTokens(said.text, tokensMax - thought.tokens);
  const whole = thought.text.length === reasoning.length && given.text.length === said.text.length;
  return {
    reasoning: thought.text,
    reasoningTokens: thought.tokens,
    text: given.text,
    refused,
    calls: [],
    outputTokens: thought.tokens + given.tokens,
    finish: whole ? 'stop' : 'length',
    stop: whole ? said.stop : null,
  };
}

function limitCalls(reasoning: string, wanted: readonly ToolCall[], tokensMax: number): Choice {
  const thought = takeTokens(reasoning, tokensMax);
  const calls: ToolCall[] = [];
  let outputTokens = thought.tokens;
  let whole = thought.text.length === reasoning.length;
  for (const call of wanted) {
    if (outputTokens + CALL_OPENING_TOKENS > tokensMax) {
      whole = false;
      break;
    }
    const given = takeTokens(call.arguments, tokensMax - outputTokens - CALL_OPENING_TOKENS);
    calls.push({ name: call.name, arguments: given.text });
    outputTokens += CALL_OPENING_TOKENS + given.tokens;
    whole &&= given.text.length === call.arguments.length;
  }
  return {
    reasoning: thought.text,
    reasoningTokens: thought.tokens,
    text: null,
    refused: false,
    calls,
    outputTokens,
    finish: whole ? 'tool_calls' : 'length',
    stop: null,
  };
}

function sumUsage(choices: readonly Choice[], asked: AskedUsage): Usage {
  let outputTokens = 0;
  let reasoningTokens = 0;
  for (const choice of choices) {
    outputTokens += choice.outputTokens;
    reasoningTokens += choice.reasoningTokens;
  }
  return { ...asked, outputTokens, reasoningTokens };
}
