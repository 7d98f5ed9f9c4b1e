import type {
  CanonicalMessage,
  CanonicalRequest,
  CanonicalTool,
  ResponseFormat,
  Sampling,
  ToolChoice,
} from '../../canonical/request.ts';
import { type Adjustments, refusing } from '../adjustments.ts';
import { noteMarks } from '../fields/cache-mark.ts';
import { NO_QUIRKS, withHostFields } from '../fields/host-fields.ts';
import { BUDGET, refuseLostBudget } from '../fields/lost-budget.ts';
import { noteLostEffort } from '../fields/lost-effort.ts';
import type { Members } from '../fields/members.ts';
import { mustBe } from '../fields/request-errors.ts';
import { writeTemperature } from '../fields/sampling.ts';
import type { HubRequestTerms } from '../hub.ts';
import { reasoningVendor } from './encrypted-reasoning.ts';
import { ENCRYPTED_REASONING } from './fields.ts';
import { writeItems } from './write-items.ts';

/** Writes a request in the canonical form for a host of this wire; the host stores nothing. */
export function writeRequest(request: CanonicalRequest, terms: HubRequestTerms): Buffer {
  const { messages, tools, toolChoice, parallelToolCalls, sampling } = request;
  const quirks = terms.quirks ?? NO_QUIRKS;
  const adjustments = terms.adjustments ?? refusing();
  checkOutputLimit(terms);
  dropUnsupportedSampling(sampling, adjustments);
  if (terms.reasoningEffort === null) {
    refuseLostBudget(request.reasoning, adjustments.writtenName(BUDGET));
    noteLostEffort(request.reasoning, terms, adjustments);
  }
  noteMarks(request, adjustments);
  const body: Members = {
    model: terms.hostModel,
    ...writePrompt(messages, reasoningVendor(quirks)),
    max_output_tokens: terms.outputLimit,
    store: false,
    ...(terms.stream && { stream: true }),
    ...writeTemperature(sampling, terms, adjustments),
    ...(tools.length > 0 && { tools: tools.map(writeTool) }),
    ...(toolChoice !== null && { tool_choice: writeToolChoice(toolChoice) }),
    ...(parallelToolCalls !== null && { parallel_tool_calls: parallelToolCalls }),
    ...writeText(request),
    ...writeReasoning(terms),
    ...(request.cacheRetention !== undefined && { prompt_cache_retention: request.cacheRetention }),
    ...terms.labels,
  };
  return Buffer.from(JSON.stringify(withHostFields(body, quirks)));
}

/** Other wires have no such minimum, so the caller reads the name of its own field. */
function checkOutputLimit({ outputLimit, quirks, callersLimitField: field = 'max_tokens' }: HubRequestTerms): void {
  const { outputLimitMin: least = 1 } = quirks ?? NO_QUIRKS;
  if (outputLimit < least) throw mustBe(field, `at least ${least} for this model`);
}

/** Sampling fields that this wire lacks. Values without effect are left out. */
function dropUnsupportedSampling(sampling: Sampling, adjustments: Adjustments): void {
  const { stop, topK, frequencyPenalty, presencePenalty, seed } = sampling;
  if (stop.length > 0) adjustments.refuse('stop', 'cut the response yourself');
  if (topK !== null) adjustments.drop('top_k');
  if (frequencyPenalty !== null && frequencyPenalty !== 0) adjustments.drop('frequency_penalty');
  if (presencePenalty !== null && presencePenalty !== 0) adjustments.drop('presence_penalty');
  if (seed !== null) adjustments.drop('seed');
}

function writeText({ responseFormat, verbosity }: CanonicalRequest): Members {
  if (responseFormat === null && verbosity === null) return {};
  return {
    text: {
      ...(responseFormat !== null && { format: writeFormat(responseFormat) }),
      ...(verbosity !== null && { verbosity }),
    },
  };
}

/** Hosts refuse a prompt without items, so instructions alone are an item. */
function writePrompt(messages: readonly CanonicalMessage[], vendor: string): Members {
  const { instructions, rest } = splitInstructions(messages);
  const input = writeItems(rest, vendor);
  if (input.length > 0)
    return { ...(instructions !== null && { instructions }), input: [...input, ...emptyQuestion(messages)] };
  const alone = writeItems(messages, vendor);
  return { input: alone.length > 0 ? alone : emptyQuestion(messages) };
}

/** The last message if it is empty: without it the model would answer something else. */
function emptyQuestion(messages: readonly CanonicalMessage[]): Members[] {
  const last = messages.at(-1);
  return last?.role === 'user' && last.blocks.length === 0 ? [{ role: 'user', content: '' }] : [];
}

/** A first system message of one text becomes `instructions`; later ones keep their place. */
function splitInstructions(messages: readonly CanonicalMessage[]): {
  instructions: string | null;
  rest: readonly CanonicalMessage[];
} {
  const first = messages[0];
  const only = first?.role === 'system' && first.blocks.length === 1 ? first.blocks[0]! : null;
  if (only?.kind !== 'text') return { instructions: null, rest: messages };
  return { instructions: only.text, rest: messages.slice(1) };
}

/** Hosts of this wire treat a schema as strict by default, unlike other wires. */
function writeTool({ name, description, schema, strict }: CanonicalTool): Members {
  return {
    type: 'function',
    name,
    ...(description !== null && { description }),
    parameters: schema,
    strict: strict ?? false,
  };
}

function writeToolChoice(choice: ToolChoice): string | Members {
  return choice.kind === 'tool' ? { type: 'function', name: choice.name } : choice.kind;
}

function writeFormat(format: ResponseFormat): Members {
  if (format.kind === 'text') return { type: 'text' };
  if (format.kind === 'json') return { type: 'json_object' };
  const { name, description, schema, strict } = format;
  return {
    type: 'json_schema',
    name,
    ...(description !== null && { description }),
    schema,
    ...(strict !== null && { strict }),
  };
}

/** Asks for encrypted reasoning only if the model reasons: other models refuse the field. */
function writeReasoning({ reasoningEffort: effort, thinking }: HubRequestTerms): Members {
  if (effort === null && thinking === null) return {};
  const include = { include: [ENCRYPTED_REASONING] };
  if (effort === null) return include;
  return { reasoning: effort === 'none' ? { effort } : { effort, summary: 'auto' }, ...include };
}
