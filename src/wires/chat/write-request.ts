import type { HostQuirks } from '../../canonical/host-quirks.ts';
import type {
  Block,
  CanonicalMessage,
  CanonicalRequest,
  CanonicalTool,
  ResponseFormat,
  ShownBlock,
  ToolChoice,
  ToolResultBlock,
} from '../../canonical/request.ts';
import { type Adjustments, refusing } from '../adjustments.ts';
import { noteMarks, noteRetention } from '../fields/cache-mark.ts';
import { acceptedCallId } from '../fields/call-id.ts';
import { NO_QUIRKS, withHostFields } from '../fields/host-fields.ts';
import { writeImageUrl } from '../fields/image-url.ts';
import { writeFile } from '../fields/inline-file.ts';
import { BUDGET, refuseLostBudget } from '../fields/lost-budget.ts';
import { noteLostEffort } from '../fields/lost-effort.ts';
import type { Members } from '../fields/members.ts';
import { writeTemperature } from '../fields/sampling.ts';
import { SHOWN_BY_TOOL } from '../fields/tool-images.ts';
import type { HubRequestTerms } from '../hub.ts';
import { callSignatures } from './call-signatures.ts';
import { messagesFor } from './message-quirks.ts';
import { writeReasoning } from './reasoning-details.ts';

/** Writes a request in the canonical form for a host of this wire. */
export function writeRequest(request: CanonicalRequest, terms: HubRequestTerms): Buffer {
  const { sampling } = request;
  const adjustments = terms.adjustments ?? refusing();
  if (sampling.topK !== null) adjustments.drop('top_k');
  if (terms.reasoningEffort === null) {
    refuseLostBudget(request.reasoning, adjustments.writtenName(BUDGET));
    noteLostEffort(request.reasoning, terms, adjustments);
  }
  noteMarks(request, adjustments);
  noteRetention(request, adjustments);
  const quirks = terms.quirks ?? NO_QUIRKS;
  const messages = withTurnsTogether(request.messages).flatMap((message) => writeMessage(message, adjustments, quirks));
  const body: Members = {
    model: terms.hostModel,
    messages: messagesFor(messages, quirks, terms.reasoningEffort),
    [terms.outputLimitField]: terms.outputLimit,
    ...(terms.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    ...writeTemperature(sampling, terms, adjustments),
    ...given('frequency_penalty', sampling.frequencyPenalty),
    ...given('presence_penalty', sampling.presencePenalty),
    ...given('seed', sampling.seed),
    ...(sampling.stop.length > 0 ? { stop: sampling.stop } : {}),
    ...(request.tools.length > 0 ? { tools: request.tools.map(writeTool) } : {}),
    ...given('tool_choice', writeToolChoice(request.toolChoice)),
    ...given('parallel_tool_calls', request.tools.length > 0 ? request.parallelToolCalls : null),
    ...given('response_format', writeFormat(request.responseFormat)),
    ...writeEffort(terms.reasoningEffort, quirks),
    ...given('verbosity', request.verbosity),
    ...terms.labels,
  };
  return Buffer.from(JSON.stringify(withHostFields(body, quirks)));
}

function writeEffort(effort: string | null, { reasoningOff }: HostQuirks): Members {
  return effort === 'none' && reasoningOff !== undefined ? reasoningOff : given('reasoning_effort', effort);
}

function given(name: string, value: unknown): Members {
  return value === null ? {} : { [name]: value };
}

/** Nothing may come between the calls of one turn and their results here, so messages that would are joined. */
function withTurnsTogether(messages: readonly CanonicalMessage[]): CanonicalMessage[] {
  return runsOf(withResultsNext(messages)).flatMap((run) => {
    const called = run.findIndex(({ blocks }) => blocks.some(isCall));
    if (called >= 0) return [...run.slice(0, called), joined(run.slice(called))];
    const answered = run.findLastIndex(({ blocks }) => blocks.some(isResult));
    return answered < 0 ? run : [joined(run.slice(0, answered + 1)), ...run.slice(answered + 1)];
  });
}

/** What stands between the calls of a turn and their results follows the results. */
function withResultsNext(messages: readonly CanonicalMessage[]): CanonicalMessage[] {
  const ordered: CanonicalMessage[] = [];
  let others: CanonicalMessage[] = [];
  for (const message of messages) {
    if (message.role === 'assistant') {
      ordered.push(...others, message);
      others = [];
    } else if (!message.blocks.some(isResult)) others.push(message);
    else if (others.length === 0) ordered.push(message);
    else {
      ordered.push(withBlocks(message, isResult));
      if (!message.blocks.every(isResult)) others.push(withBlocks(message, (block) => !isResult(block)));
    }
  }
  return [...ordered, ...others];
}

function withBlocks({ role, blocks }: CanonicalMessage, keeps: (block: Block) => boolean): CanonicalMessage {
  return { role, blocks: blocks.filter(keeps) };
}

/** Messages that follow each other and have the same role. */
function runsOf(messages: readonly CanonicalMessage[]): CanonicalMessage[][] {
  const runs: CanonicalMessage[][] = [];
  for (const message of messages) {
    const run = runs.at(-1);
    if (run?.at(-1)?.role === message.role) run.push(message);
    else runs.push([message]);
  }
  return runs;
}

function joined(run: readonly CanonicalMessage[]): CanonicalMessage {
  return { role: run[0]!.role, blocks: run.flatMap(({ blocks }) => blocks) };
}

function isCall({ kind }: Block): boolean {
  return kind === 'tool-call';
}

function isResult(block: Block): block is ToolResultBlock {
  return block.kind === 'tool-result';
}

/** One message may become several: each tool result is a message of its own here. */
function writeMessage({ role, blocks }: CanonicalMessage, adjustments: Adjustments, quirks: HostQuirks): Members[] {
  if (role === 'assistant') return [writeAssistant(blocks, adjustments, quirks)];
  const results = blocks.filter(isResult);
  const parts = [...results.flatMap(imagesOf), ...blocks.flatMap(asShown)];
  const written = results.map((block) => writeToolResult(block, adjustments));
  if (parts.length === 0 && written.length > 0) return written;
  return [...written, { role, content: writeContent(parts) }];
}

/** Only the model can refuse on this wire, so a refusal in another message is text. */
function asShown(block: Block): ShownBlock[] {
  if (block.kind === 'refusal') return [{ kind: 'text', text: block.text }];
  return block.kind === 'text' || block.kind === 'image' || block.kind === 'document' ? [block] : [];
}

function writeAssistant(blocks: readonly Block[], adjustments: Adjustments, quirks: HostQuirks): Members {
  if (blocks.some(({ kind }) => kind === 'image' || kind === 'document')) {
    adjustments.refuse('messages', 'turns of the assistant must be text for this model');
  }
  const text = textOf(blocks, 'text');
  const refusal = textOf(blocks, 'refusal');
  const calls = blocks.flatMap((block) => (block.kind === 'tool-call' ? [block] : []));
  const signatures = callSignatures(blocks, quirks);
  return {
    role: 'assistant',
    content: text === '' && (calls.length > 0 || refusal !== '') ? null : text,
    ...(refusal === '' ? {} : { refusal }),
    ...writeReasoning(blocks, quirks),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ id, name, argumentsJson }) => ({
            id: callIdOf(id),
            type: 'function',
            function: { name, arguments: argumentsJson === '' ? '{}' : argumentsJson },
            ...signatures.get(id),
          })),
        }),
  };
}

function textOf(blocks: readonly Block[], kind: 'text' | 'refusal'): string {
  return blocks.map((block) => (block.kind === kind ? block.text : '')).join('');
}

function writeContent(parts: readonly ShownBlock[]): string | Members[] {
  const [only] = parts;
  if (parts.length < 2 && (only === undefined || only.kind === 'text')) return only?.text ?? '';
  return parts.map(writePart);
}

function writePart(part: ShownBlock): Members {
  if (part.kind === 'document') return { type: 'file', file: writeFile(part) };
  if (part.kind === 'text') return { type: 'text', text: part.text };
  const detail = part.detail === null ? {} : { detail: part.detail };
  return { type: 'image_url', image_url: { url: writeImageUrl(part), ...detail } };
}

/** Hosts of this wire take tool results as text only: images follow the results, and documents are refused. */
function writeToolResult({ callId, content }: ToolResultBlock, adjustments: Adjustments): Members {
  if (content.some((part) => part.kind === 'document')) {
    adjustments.refuse('messages', 'tool results must be text or images for this model');
  }
  return {
    role: 'tool',
    tool_call_id: callIdOf(callId),
    content: writeContent(content.filter(({ kind }) => kind === 'text')),
  };
}

/** The vendor of this wire takes no longer ids. */
const CALL_ID = /^.{1,40}$/s;

function callIdOf(id: string): string {
  return acceptedCallId(id, CALL_ID);
}

function imagesOf({ content }: ToolResultBlock): ShownBlock[] {
  return content.flatMap((part) => (part.kind === 'image' ? [{ kind: 'text', text: SHOWN_BY_TOOL }, part] : []));
}

function writeTool({ name, description, schema, strict }: CanonicalTool): Members {
  return {
    type: 'function',
    function: { name, ...given('description', description), parameters: schema, ...given('strict', strict) },
  };
}

function writeToolChoice(choice: ToolChoice | null): unknown {
  if (choice === null) return null;
  return choice.kind === 'tool' ? { type: 'function', function: { name: choice.name } } : choice.kind;
}

function writeFormat(format: ResponseFormat | null): unknown {
  if (format === null) return null;
  if (format.kind === 'text') return { type: 'text' };
  if (format.kind === 'json') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  return {
    type: 'json_schema',
    json_schema: { name, ...given('description', description), schema, ...given('strict', strict) },
  };
}
