import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Answers of chat hosts, recorded or written for this project, and the result that each must give; read without code of the wire. */

type Fields = Record<string, unknown>;

export interface Recording {
  readonly id: string;
  readonly mode: 'stream' | 'buffered';
  readonly status: number;
  readonly covers: string;
  readonly body: Buffer;
  /** The final usage as the host sent it; null if it sent none. */
  readonly usage: Fields | null;
  readonly rule: UsageRule;
  readonly usageSource: 'reported' | 'partial' | 'estimated';
  readonly quirks: { readonly readUsage?: string };
  readonly answers: number;
  /** The tool calls, if they cannot be told apart by the recording alone. */
  readonly calls: readonly (readonly [string, string])[] | null;
  readonly error: ExpectedError | null;
}

export interface ExpectedError {
  readonly status?: number;
  readonly code?: string | null;
  readonly param?: string | null;
}

export type UsageRule = 'standard' | 'reasoning outside' | 'thinking in total' | 'cached outside' | 'cache overlap';

interface Item extends Partial<Omit<Recording, 'body'>> {
  readonly id: string;
  readonly mode: 'stream' | 'buffered';
  readonly status: number;
  readonly covers: string;
  readonly response: string;
  readonly provider?: string;
  readonly wire?: string;
  readonly usage_source?: 'partial';
  readonly n?: number;
}

const ROOT = resolve(import.meta.dirname, '..');
const CORPUS = resolve(ROOT, '../shared/corpus');

export function ownRecordings(): Recording[] {
  const folder = join(ROOT, 'fixtures/wires/chat');
  return readIndex(join(folder, 'index.json')).map((item) => readItem(folder, item));
}

/** Null where this machine does not have them. */
export function corpusRecordings(): Recording[] | null {
  const index = join(CORPUS, 'index.json');
  if (!existsSync(index)) return null;
  const items = readIndex(index).filter(({ wire }) => wire === 'openai-chat');
  return items.map((item) => readItem(CORPUS, { ...item, ...CORPUS_FACTS[item.id.replace('openai-chat/', '')] }));
}

/** What the index of the recordings says only in prose. */
const CORPUS_FACTS: Readonly<Record<string, Partial<Item>>> = {
  'xai-tool-stream': { rule: 'reasoning outside' },
  'gemini-openai-tool-no-id': { rule: 'thinking in total' },
  'openai-n3-stream': { n: 3 },
  'groq-midstream-error': { error: { code: 'tool_use_failed' } },
  'openrouter-midstream-error': { error: { code: 'host_refused_request' } },
  'openai-400': { error: { status: 400, code: 'unsupported_parameter', param: 'max_tokens' } },
  'openai-404-model': { error: { status: 502, code: 'host_failed' } },
  'azure-401': { error: { status: 502, code: 'host_failed' } },
  'azure-429': { error: { status: 429, code: 'rate_limit_exceeded' } },
  'deepseek-400-context': { error: { status: 422, code: 'context_length_exceeded' } },
  'mistral-401': { error: { status: 502, code: 'host_failed' } },
  'openrouter-429': { error: { status: 429, code: 'rate_limit_exceeded' } },
};

function readIndex(path: string): Item[] {
  const index: unknown = JSON.parse(readFileSync(path, 'utf8'));
  return (Array.isArray(index) ? index : (index as { items: Item[] }).items) as Item[];
}

function readItem(folder: string, item: Item): Recording {
  const { id, mode, status, covers, usage = null, rule = 'standard', quirks = {}, calls = null, error = null } = item;
  const usageSource = item.usage_source ?? (usage === null ? 'estimated' : 'reported');
  const body = readFileSync(join(folder, item.response));
  return { id, mode, status, covers, body, usage, rule, usageSource, quirks, answers: item.n ?? 1, calls, error };
}

/** The receipt's usage for what a host reported: rules U1 to U4 and U7 of the wire facts. */
export function expectedUsage({ usage, rule }: Recording): Record<string, number> {
  const count = (value: unknown): number => (typeof value === 'number' ? value : 0);
  const prompt = count(usage?.prompt_tokens);
  const completion = count(usage?.completion_tokens);
  const promptDetails = (usage?.prompt_tokens_details ?? {}) as Fields;
  const cached = count(promptDetails.cached_tokens);
  const reported = count(promptDetails.cache_write_tokens);
  const written = rule === 'cache overlap' ? Math.max(0, reported - cached) : reported;
  const reasoning = count(((usage?.completion_tokens_details ?? {}) as Fields).reasoning_tokens);
  const hidden = rule === 'thinking in total' ? count(usage?.total_tokens) - prompt - completion : 0;
  const output = completion + hidden + (rule === 'reasoning outside' ? reasoning : 0);
  return {
    fresh_tokens: rule === 'cached outside' ? prompt : prompt - cached - written,
    cache_read_tokens: cached,
    cache_write_tokens: written,
    cache_write_1h_tokens: 0,
    output_tokens: output,
    reasoning_tokens: Math.min(output, reasoning + hidden),
  };
}

/** One answer of a recording, in a simple form. */
export interface Told {
  text: string;
  reasoning: string;
  refusal: string;
  calls: [name: string, args: string][];
  finish: string | null;
}

/** What a recording says, answer by answer, up to its end or its error. */
export function toldBy(recording: Recording): Told[] {
  const told: Told[] = [];
  for (const chunk of chunksOf(recording)) {
    if (chunk.error !== undefined) break;
    for (const choice of listOf(chunk.choices)) {
      const index = choice.index as number;
      told[index] ??= { text: '', reasoning: '', refusal: '', calls: [], finish: null };
      tell(told[index], choice);
    }
  }
  for (const one of told) {
    one.calls = recording.calls?.map(([name, args]) => [name, args]) ?? one.calls;
    one.finish = one.calls.length > 0 ? 'tool_calls' : (one.finish ?? 'stop');
  }
  return told;
}

function chunksOf({ mode, body }: Recording): Fields[] {
  const text = body.toString('utf8');
  if (mode === 'buffered') return [JSON.parse(text) as Fields];
  const lines = text.split(/\r\n|\n/).filter((line) => line.startsWith('data: {'));
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as Fields);
}

function tell(told: Told, choice: Fields): void {
  const said = (choice.delta ?? choice.message ?? {}) as Fields;
  const parts = listOf(said.content);
  told.text += typeof said.content === 'string' ? said.content : textIn(parts.filter(({ type }) => type === 'text'));
  told.refusal += said.refusal ?? '';
  const details = listOf(said.reasoning_details).filter(({ type }) => type === 'reasoning.text');
  const thinking = parts.filter(({ type }) => type === 'thinking').flatMap((part) => listOf(part.thinking));
  told.reasoning += said.reasoning ?? said.reasoning_content ?? textIn(details) + textIn(thinking);
  for (const call of listOf(said.tool_calls)) tellCall(told.calls, call);
  told.finish ??= (choice.finish_reason as string | null | undefined) ?? null;
}

function tellCall(calls: Told['calls'], call: Fields): void {
  const { name, arguments: args } = call.function as { name?: string; arguments?: string };
  if (name !== undefined) calls.push([name, args ?? '']);
  else calls.at(-1)![1] += args ?? '';
}

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? (value as Fields[]) : [];
}

function textIn(parts: readonly Fields[]): string {
  return parts.map(({ text }) => text ?? '').join('');
}
