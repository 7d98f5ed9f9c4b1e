import * as chat from './chat-recordings.ts';
import * as messages from './messages-recordings.ts';
import * as responses from './responses-stream.ts';

/** Recordings of the three conversational wires in one form: their content and the counts that hosts reported. */

export interface Said {
  readonly text: string;
  /** The model's refusal, if its wire has a separate member for it. */
  readonly refusal?: string;
  readonly reasoning: string;
  readonly calls: readonly (readonly [name: string, args: unknown])[];
}

export interface AnyRecording {
  readonly wire: 'chat' | 'messages' | 'responses';
  readonly id: string;
  readonly mode: 'stream' | 'buffered';
  readonly body: Buffer;
  readonly said: Said;
  /** The receipt's token counts; null where the host reported none. */
  readonly usage: Readonly<Record<string, number>> | null;
  /** The host stops with an error. */
  readonly breaksOff: boolean;
  readonly quirks: { readonly readUsage?: string };
  /** Several choices, which no other wire can carry. */
  readonly answers: number;
}

export function allRecordings(): { recordings: AnyRecording[]; hasCorpus: boolean } {
  const chatCorpus = chat.corpusRecordings();
  const chats = [...chat.ownRecordings(), ...(chatCorpus ?? [])].filter(({ status }) => status === 200);
  const fromMessages = messages.allRecordings().recordings.filter(({ status }) => status === 200);
  const fromResponses = responses.recordings().filter(({ status }) => status === 200);
  return {
    recordings: [...chats.map(ofChat), ...fromMessages.map(ofMessages), ...fromResponses.map(ofResponses)],
    hasCorpus: chatCorpus !== null,
  };
}

function ofChat(recording: chat.Recording): AnyRecording {
  const { id, mode, body, quirks, answers, error, usageSource } = recording;
  const told = chat.toldBy(recording)[0] ?? { text: '', reasoning: '', calls: [], refusal: '', finish: null };
  const usage = usageSource === 'reported' ? chat.expectedUsage(recording) : null;
  return {
    wire: 'chat',
    id,
    mode,
    body,
    said: {
      text: told.text,
      refusal: told.refusal,
      reasoning: told.reasoning,
      calls: told.calls.map(([name, args]) => [name, parsed(args)]),
    },
    usage,
    breaksOff: error !== null,
    quirks,
    answers,
  };
}

function ofMessages(recording: messages.Recording): AnyRecording {
  const { id, mode, body, error } = recording;
  const { blocks } = messages.toldBy(mode, body);
  const usage = messages.expectedUsage(recording);
  return {
    wire: 'messages',
    id,
    mode,
    body,
    said: {
      text: blocks.map((block) => (block.kind === 'text' ? block.text : '')).join(''),
      reasoning: blocks.map((block) => (block.kind === 'thinking' ? block.text : '')).join(''),
      calls: blocks.flatMap((block) => (block.kind === 'call' ? [[block.name, block.args] as const] : [])),
    },
    usage: recording.usage === null ? null : snakeCase(usage),
    breaksOff: error !== null,
    quirks: {},
    answers: 1,
  };
}

type Json = Record<string, unknown>;

/** The terminal event repeats the whole answer. */
function ofResponses({ id, mode, body, usage }: responses.Recording): AnyRecording {
  const data = body
    .toString('utf8')
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as Json);
  const last = data.find(({ type }) => type === 'response.completed' || type === 'response.incomplete');
  const output = ((last?.response as Json | undefined)?.output ?? []) as Json[];
  const deltas = (type: string): string =>
    data.map((event) => (event.type === type ? String(event.delta) : '')).join('');
  const summary = deltas('response.reasoning_summary_text.delta');
  return {
    wire: 'responses',
    id,
    mode,
    body,
    said: {
      text: deltas('response.output_text.delta'),
      reasoning: summary === '' ? deltas('response.reasoning_text.delta') : summary,
      calls: output
        .filter(({ type }) => type === 'function_call')
        .map(({ name, arguments: args }) => [String(name), parsed(String(args))]),
    },
    usage: usage === null ? null : usageOfResponses(usage),
    breaksOff: last === undefined,
    quirks: {},
    answers: 1,
  };
}

function usageOfResponses(usage: Json): Record<string, number> {
  const count = (value: unknown): number => (typeof value === 'number' ? value : 0);
  const input = (usage.input_tokens_details ?? {}) as Json;
  const output = (usage.output_tokens_details ?? {}) as Json;
  const cached = count(input.cached_tokens);
  const written = count(input.cache_write_tokens);
  return {
    fresh_tokens: count(usage.input_tokens) - cached - written,
    cache_read_tokens: cached,
    cache_write_tokens: written,
    cache_write_1h_tokens: 0,
    output_tokens: count(usage.output_tokens),
    reasoning_tokens: count(output.reasoning_tokens),
  };
}

function snakeCase(usage: object): Record<string, number> {
  const entries = Object.entries(usage) as [string, number][];
  return Object.fromEntries(
    entries.map(([name, count]) => [
      name.replace('1h', '_1h').replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      count,
    ]),
  );
}

/** Arguments that a limit cut off are not valid JSON, so they are compared as text. */
export function parsed(args: string): unknown {
  try {
    return args === '' ? {} : JSON.parse(args);
  } catch {
    return args;
  }
}
