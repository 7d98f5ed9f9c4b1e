import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Usage } from '../src/canonical/usage.ts';

/** Answers of messages hosts, recorded or written for this project, and the result that each must give; read without code of the wire. */

type Fields = Record<string, unknown>;

export interface Recording {
  readonly id: string;
  readonly mode: 'stream' | 'buffered';
  readonly status: number;
  readonly covers: string;
  readonly body: Buffer;
  /** The final usage as the host sent it; null if it sent none. */
  readonly usage: Fields | null;
  /** The kind of error, if it is one. */
  readonly error: { readonly kind: string } | null;
  /** The host breaks rules of the wire, so its frames cannot be passed on unchanged. */
  readonly careless: boolean;
}

interface Item extends Omit<Recording, 'body' | 'error' | 'careless'> {
  readonly response: string;
  readonly wire?: string;
  readonly error?: Recording['error'];
  readonly careless?: boolean;
}

const ROOT = resolve(import.meta.dirname, '..');
const CORPUS = resolve(ROOT, '../shared/corpus');

export function ownRecordings(): Recording[] {
  const folder = join(ROOT, 'fixtures/wires/messages');
  return readIndex(join(folder, 'index.json')).map((item) => readItem(folder, item));
}

/** Null where this machine does not have them. */
export function corpusRecordings(): Recording[] | null {
  const index = join(CORPUS, 'index.json');
  if (!existsSync(index)) return null;
  const items = readIndex(index).filter(({ wire }) => wire === 'anthropic-messages');
  return items.map((item) =>
    readItem(CORPUS, { ...item, ...CORPUS_FACTS[item.id.replace('anthropic-messages/', '')] }),
  );
}

/** What the index of the recordings says only in prose. */
const CORPUS_FACTS: Readonly<Record<string, Partial<Item>>> = {
  '400-context': { error: { kind: 'over_window' } },
  '401': { error: { kind: 'credentials' } },
  '529-overloaded': { error: { kind: 'unavailable' } },
  'midstream-overloaded': { error: { kind: 'unavailable' } },
};

/** All of them, and whether the recorded ones are among them. */
export function allRecordings(): { recordings: Recording[]; hasCorpus: boolean } {
  const corpus = corpusRecordings();
  return { recordings: [...ownRecordings(), ...(corpus ?? [])], hasCorpus: corpus !== null };
}

function readIndex(path: string): Item[] {
  const index: unknown = JSON.parse(readFileSync(path, 'utf8'));
  return (Array.isArray(index) ? index : (index as { items: Item[] }).items) as Item[];
}

function readItem(folder: string, item: Item): Recording {
  const { id, mode, status, covers, usage, error = null, careless = false } = item;
  return { id, mode, status, covers, usage, error, careless, body: readFileSync(join(folder, item.response)) };
}

/** Rules U1 and U6 of the wire facts: the counts are disjoint, and writes with the longer lifetime are separate. */
export function expectedUsage({ usage }: Recording): Usage {
  const count = (value: unknown): number => (typeof value === 'number' ? value : 0);
  const hour = count(((usage?.cache_creation ?? {}) as Fields).ephemeral_1h_input_tokens);
  return {
    freshTokens: count(usage?.input_tokens),
    cacheReadTokens: count(usage?.cache_read_input_tokens),
    cacheWriteTokens: count(usage?.cache_creation_input_tokens) - hour,
    cacheWrite1hTokens: hour,
    outputTokens: count(usage?.output_tokens),
    reasoningTokens: count(((usage?.output_tokens_details ?? {}) as Fields).thinking_tokens),
  };
}

export type ToldBlock =
  | { kind: 'text'; text: string }
  | { kind: 'thinking'; text: string; signature: string }
  | { kind: 'redacted'; data: string }
  | { kind: 'call'; name: string; args: unknown };

/** An answer in a simple form; blocks of tools that a host runs are left out. */
export interface Told {
  readonly blocks: ToldBlock[];
  stop: string | null;
  stopSequence: string | null;
}

/** The content of a recording, or of anything else in the same form, up to its end or its error. */
export function toldBy(mode: Recording['mode'], body: Buffer | string): Told {
  const text = body.toString();
  return mode === 'buffered' ? toldByMessage(JSON.parse(text) as Fields) : toldByStream(dataOf(text));
}

export function toldByMessage(message: Fields): Told {
  const blocks = (message.content as Fields[]).map(begin);
  return tellEnd({ blocks: finished(blocks), stop: null, stopSequence: null }, message);
}

function dataOf(text: string): Fields[] {
  const lines = text.split(/\r\n|\n/).filter((line) => line.startsWith('data: {'));
  return lines.map((line) => JSON.parse(line.slice('data: '.length)) as Fields);
}

interface Begun {
  readonly type: unknown;
  readonly name: string;
  text: string;
  signature: string;
}

function toldByStream(events: readonly Fields[]): Told {
  const blocks = new Map<unknown, Begun>();
  const told: Told = { blocks: [], stop: null, stopSequence: null };
  for (const { type, index, content_block: block, delta } of events) {
    if (type === 'error') break;
    if (type === 'content_block_start') blocks.set(index, begin(block as Fields));
    if (type === 'content_block_delta') tell(blocks, index, delta as Fields);
    if (type === 'message_delta') tellEnd(told, delta as Fields);
  }
  told.blocks.push(...finished([...blocks.values()]));
  return told;
}

function begin({ type, name, text, thinking, data, signature, input }: Fields): Begun {
  const whole = input !== null && typeof input === 'object' && Object.keys(input).length === 0 ? '' : input;
  const given =
    text ?? thinking ?? data ?? (typeof whole === 'object' && whole !== null ? JSON.stringify(whole) : whole);
  return { type, name: String(name), text: String(given ?? ''), signature: String(signature ?? '') };
}

function tell(blocks: Map<unknown, Begun>, index: unknown, delta: Fields): void {
  const block = blocks.get(index) ?? begin({ type: 'text' });
  blocks.set(index, block);
  block.text += delta.text ?? delta.thinking ?? delta.partial_json ?? '';
  block.signature += delta.signature ?? '';
}

function tellEnd(told: Told, { stop_reason: stop, stop_sequence: sequence }: Fields): Told {
  if (typeof stop === 'string') told.stop = stop;
  if (typeof sequence === 'string') told.stopSequence = sequence;
  return told;
}

function finished(blocks: readonly Begun[]): ToldBlock[] {
  return blocks.flatMap(({ type, name, text, signature }): ToldBlock[] => {
    if (type === 'text') return [{ kind: 'text', text }];
    if (type === 'thinking') return [{ kind: 'thinking', text, signature }];
    if (type === 'redacted_thinking') return [{ kind: 'redacted', data: text }];
    return type === 'tool_use' ? [{ kind: 'call', name, args: argumentsOf(text) }] : [];
  });
}

/** Complete arguments as values; arguments that were cut off stay text. */
export function argumentsOf(json: string): unknown {
  if (json === '') return {};
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
