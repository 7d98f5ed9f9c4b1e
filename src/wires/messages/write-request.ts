import type {
  Block,
  CanonicalMessage,
  CanonicalRequest,
  CanonicalTool,
  ResponseFormat,
  Role,
  Sampling,
} from '../../canonical/request.ts';
import { type Adjustments, refusing } from '../adjustments.ts';
import { noteRetention, writeCacheMark } from '../fields/cache-mark.ts';
import { NO_QUIRKS, withHostFields } from '../fields/host-fields.ts';
import { IMAGE_DETAIL } from '../fields/image-url.ts';
import { BUDGET, refuseLostBudget } from '../fields/lost-budget.ts';
import { noteLostEffort } from '../fields/lost-effort.ts';
import { isText, type Members } from '../fields/members.ts';
import { mustBe } from '../fields/request-errors.ts';
import { FORMAT_DESCRIPTION, FORMAT_OPENNESS } from '../fields/response-format.ts';
import type { HubRequestTerms } from '../hub.ts';
import { lacksThoughts } from './missing-thoughts.ts';
import { strictSchema } from './strict-schema.ts';
import { withUniqueCalls } from './unique-calls.ts';
import { withoutBlankText, writeBlock } from './write-blocks.ts';
import {
  forbidsForcedTool,
  noteRaised,
  SAYS_NOTHING,
  type Thinking,
  thinkingKind,
  withoutThinking,
  writeThinking,
} from './write-thinking.ts';

/** Writes a request in the canonical form for a host of this wire. */
export function writeRequest(request: CanonicalRequest, terms: HubRequestTerms): Buffer {
  const adjustments = terms.adjustments ?? refusing();
  const thinking = possibleThinking(request, terms, adjustments);
  const { system, messages } = writeMessages(withUniqueCalls(request.messages), adjustments);
  if (request.verbosity !== null) adjustments.drop('verbosity');
  noteLeftOut(request, adjustments);
  noteRetention(request, adjustments);
  const fields: Members = {
    model: terms.hostModel,
    max_tokens: terms.outputLimit,
    ...(terms.stream && { stream: true }),
    ...writeTools(request, adjustments),
    ...(thinking.thinking !== null && { thinking: thinking.thinking }),
    output_config: writeOutputConfig(thinking, request.responseFormat, adjustments),
    ...writeSampling(request.sampling, thinking, terms.fixedSampling === true, adjustments),
    ...writeCacheMark(request.cache),
  };
  const written = JSON.stringify(withHostFields(fields, terms.quirks ?? NO_QUIRKS));
  const prompt = `"messages":[${messages.join(',')}]`;
  return Buffer.from(
    `${written.slice(0, -1)}${system.length === 0 ? '' : `,"system":[${system.join(',')}]`},${prompt}}`,
  );
}

/** Hosts refuse thinking in some requests, which can at least be answered without it. */
function possibleThinking(request: CanonicalRequest, terms: HubRequestTerms, adjustments: Adjustments): Thinking {
  if (isRefused(request, terms)) {
    adjustments.note('reasoning');
    return withoutThinking(terms.thinking);
  }
  const asked = writeThinking(request.reasoning, terms);
  if (asked === SAYS_NOTHING) {
    refuseLostBudget(request.reasoning, adjustments.writtenName(BUDGET));
    noteLostEffort(request.reasoning, terms, adjustments);
  }
  noteRaised(asked, request.reasoning, adjustments);
  return asked;
}

/** A model that must call a tool cannot think first, and one with a budget not without its earlier thoughts. */
function isRefused({ reasoning, messages, toolChoice }: CanonicalRequest, terms: HubRequestTerms): boolean {
  const forcesTool = toolChoice?.kind === 'required' || toolChoice?.kind === 'tool';
  if (forcesTool && forbidsForcedTool(reasoning, terms)) return true;
  return thinkingKind(reasoning, terms) === 'enabled' && lacksThoughts(messages);
}

/** What this wire lacks and nobody would want a refusal for. */
function noteLeftOut({ responseFormat, messages }: CanonicalRequest, adjustments: Adjustments): void {
  if (responseFormat?.kind === 'json') adjustments.note('response_format');
  if (responseFormat?.kind === 'schema' && isText(responseFormat.description)) adjustments.note(FORMAT_DESCRIPTION);
  if (messages.some(({ blocks }) => blocks.some(asksForDetail))) adjustments.note(IMAGE_DETAIL);
}

/** `auto` leaves the detail to the host. */
function asksForDetail(block: Block): boolean {
  if (block.kind === 'tool-result') return block.content.some(asksForDetail);
  return block.kind === 'image' && block.detail !== null && block.detail !== 'auto';
}

/** The blocks of one turn; a user turn begins with the tool results. */
interface Turn {
  readonly role: 'user' | 'assistant';
  readonly results: string[];
  readonly blocks: string[];
}

const EMPTY_TEXT = '{"type":"text","text":""}';

/** Merges messages but never blocks, so a cache mark stays on its block. */
function writeMessages(
  given: readonly CanonicalMessage[],
  adjustments: Adjustments,
): { system: string[]; messages: string[] } {
  const system: string[] = [];
  const turns: Turn[] = [];
  given.forEach(({ role, blocks }, index) => {
    const isAlone = index === given.length - 1 && asksAlone(role, blocks, turns);
    const turnsBefore = turns.length;
    for (const block of isAlone ? blocks : withoutBlankText(blocks)) {
      const written = writeBlock(block, adjustments);
      if (written === null) continue;
      if (role === 'system') {
        if (block.kind !== 'text') adjustments.refuse('messages', 'write instructions as text');
        system.push(written);
      } else {
        const turn = turnOf(turns, role);
        (block.kind === 'tool-result' ? turn.results : turn.blocks).push(written);
      }
    }
    // The host refuses an empty question; without it, it would continue the assistant's turn.
    if (isAlone && turns.length === turnsBefore && turnsBefore > 0) turnOf(turns, 'user').blocks.push(EMPTY_TEXT);
  });
  if (turns.length > 0 || system.length === 0) return { system, messages: turns.map(writeTurn) };
  // Hosts refuse a prompt without turns, so instructions alone are the user's turn.
  return { system: [], messages: [writeTurn({ role: 'user', results: [], blocks: system })] };
}

/** Without this message the model would continue the assistant's turn, or answer the instructions. */
function asksAlone(role: Role, blocks: readonly Block[], turns: readonly Turn[]): boolean {
  return role === 'user' && turns.at(-1)?.role !== 'user' && withoutBlankText(blocks).length === 0;
}

function turnOf(turns: Turn[], role: 'user' | 'assistant'): Turn {
  const last = turns.at(-1);
  if (last?.role === role) return last;
  const turn: Turn = { role, results: [], blocks: [] };
  turns.push(turn);
  return turn;
}

function writeTurn({ role, results, blocks }: Turn): string {
  return `{"role":"${role}","content":[${[...results, ...blocks].join(',')}]}`;
}

function writeTool({ name, description, schema, strict, cache }: CanonicalTool, adjustments: Adjustments): Members {
  const objectSchema = schema.type === undefined ? { type: 'object', ...schema } : schema;
  return {
    name,
    ...(description !== null && { description }),
    ...(strict === true ? writeStrictInput(objectSchema, adjustments) : { input_schema: objectSchema }),
    ...(strict === false && { strict }),
    ...writeCacheMark(cache),
  };
}

/** A tool that takes members of any name cannot be strict here, and without them it could not be called as it should. */
function writeStrictInput(schema: Members, adjustments: Adjustments): Members {
  const strict = strictSchema(schema);
  if (!strict.closesObject) return { input_schema: strict.schema, strict: true };
  adjustments.note('tools.strict');
  return { input_schema: schema };
}

function writeTools(request: CanonicalRequest, adjustments: Adjustments): Members {
  const { tools, toolChoice } = request;
  if (tools.length > 0) {
    return { tools: tools.map((tool) => writeTool(tool, adjustments)), tool_choice: writeToolChoice(request) };
  }
  // Hosts of other wires refuse this themselves; this wire has no place for a choice among no tools.
  if (toolChoice?.kind === 'required' || toolChoice?.kind === 'tool')
    throw mustBe('tool_choice', '"auto" or "none" without `tools`');
  return {};
}

const CHOICES = { auto: 'auto', required: 'any', none: 'none' } as const;

function writeToolChoice({ toolChoice, parallelToolCalls }: CanonicalRequest): Members | undefined {
  const single = parallelToolCalls === false && toolChoice?.kind !== 'none' && { disable_parallel_tool_use: true };
  if (toolChoice === null) return single === false ? undefined : { type: 'auto', ...single };
  if (toolChoice.kind === 'tool') return { type: 'tool', name: toolChoice.name, ...single };
  return { type: CHOICES[toolChoice.kind], ...single };
}

/** This wire has no JSON format without a schema; the prompt must ask for JSON. */
function writeOutputConfig(
  { effort }: Thinking,
  format: ResponseFormat | null,
  adjustments: Adjustments,
): Members | undefined {
  const schema = format?.kind === 'schema' ? writeFormat(format.schema, adjustments) : null;
  if (effort === null && schema === null) return undefined;
  return {
    ...(effort !== null && { effort }),
    ...(schema !== null && { format: { type: 'json_schema', schema } }),
  };
}

function writeFormat(schema: Members, adjustments: Adjustments): Members {
  const strict = strictSchema(schema);
  if (strict.closesObject) adjustments.note(FORMAT_OPENNESS);
  return strict.schema;
}

/** Hosts refuse thinking with a lower `top_p`. */
const THINKING_TOP_P_MIN = 0.95;

/** Default values are left out. Some models refuse the fields, and thinking restricts them for the others. */
function writeSampling(
  sampling: Sampling,
  { thinking }: Thinking,
  isFixed: boolean,
  adjustments: Adjustments,
): Members {
  dropUnsupportedSampling(sampling, adjustments);
  const { temperature, topP, topK, stop } = sampling;
  const thinks = thinking !== null && thinking.type !== 'disabled';
  const written: Members = {};
  const write = (name: string, value: number, allowed: boolean): void => {
    if (allowed && !isFixed) written[name] = value;
    else adjustments.note(name);
  };
  if (temperature !== null && temperature !== 1) write('temperature', temperature, !thinks);
  // Hosts refuse both together.
  const hasTemperature = written.temperature !== undefined;
  const mayCut = !hasTemperature && (!thinks || (topP ?? 0) >= THINKING_TOP_P_MIN);
  if (topP !== null && topP !== 1) write('top_p', topP, mayCut);
  if (topK !== null) write('top_k', topK, !thinks);
  if (stop.length > 0) written.stop_sequences = stop.map(checkStop);
  return written;
}

function dropUnsupportedSampling(
  { frequencyPenalty, presencePenalty, seed }: Sampling,
  adjustments: Adjustments,
): void {
  if (frequencyPenalty !== null && frequencyPenalty !== 0) adjustments.drop('frequency_penalty');
  if (presencePenalty !== null && presencePenalty !== 0) adjustments.drop('presence_penalty');
  if (seed !== null) adjustments.drop('seed');
}

function checkStop(sequence: string): string {
  if (sequence.trim() === '') throw mustBe('stop', 'more than white space for this model');
  return sequence;
}
