import { GatewayError } from '../../canonical/errors.ts';
import type { ReasoningAsk } from '../../canonical/reasoning.ts';
import type { JsonEdit, JsonText } from '../../json/json.ts';
import type { Adjustments } from '../adjustments.ts';
import { isWrappedForeign } from '../fields/foreign-reasoning.ts';
import { editHostFields, NO_QUIRKS } from '../fields/host-fields.ts';
import { refuseLostBudget } from '../fields/lost-budget.ts';
import { noteLostEffort } from '../fields/lost-effort.ts';
import { isAbsent, isObject, type Members } from '../fields/members.ts';
import { hasPlainLimit } from '../fields/plain-limit.ts';
import type { Peek } from '../peek.ts';
import type { UpstreamTerms } from '../wire.ts';
import { isEmptyAsk, isWithheld } from './fields.ts';
import { isAdaptiveAlone, readCommonReasoning } from './read-thinking.ts';
import {
  forbidsForcedTool,
  noteRaised,
  SAYS_NOTHING,
  type Thinking,
  withoutThinking,
  writeThinking,
} from './write-thinking.ts';

/** The caller's own bytes, with only the fields replaced that must differ for this host; signatures never change. */
export function spliceRequest(text: JsonText, peek: Peek, terms: UpstreamTerms): Buffer {
  const body = text.value as Members;
  const edit = text.edit();
  for (const name of Object.keys(body)) {
    if (isWithheld(name, terms.forwards) || isEmptyAsk(name, body[name])) edit.remove([name]);
  }
  if (peek.model !== terms.hostModel) edit.set(['model'], JSON.stringify(terms.hostModel));
  if (!hasPlainLimit(text, 'max_tokens', terms.outputLimit)) edit.set(['max_tokens'], String(terms.outputLimit));
  setThinking(body, terms, edit);
  removeForeignReasoning(body, edit);
  editHostFields(edit, terms.quirks ?? NO_QUIRKS);
  return edit.apply();
}

/** Only the reasoning fields of every wire may be refused here, when they are written in the fields of this one. */
export function mayRefuse({ value }: JsonText): boolean {
  return readCommonReasoning(value as Members) !== null;
}

/**
 * For the fields of every wire: names a budget that is raised to the least that hosts of this one take, and reasoning that
 * is left out because the model must call a tool.
 */
export function noteThinking({ value }: JsonText, terms: UpstreamTerms, adjustments: Adjustments): void {
  const body = value as Members;
  const asked = readCommonReasoning(body);
  if (asked === null || isObject(body.thinking)) return;
  if (isLeftOut(asked, body, terms)) {
    adjustments.note(asked.param);
    if (hasEffort(body)) adjustments.note('output_config.effort');
    return;
  }
  const written = thinkingFor(asked, body, terms);
  if (written === SAYS_NOTHING) noteLostEffort(asked, terms, adjustments, asked.param);
  noteRaised(written, asked, adjustments);
}

/** Whether the model must call a tool, and its host refuses to let it think first. */
function isLeftOut(asked: ReasoningAsk, { thinking, tool_choice: choice }: Members, terms: UpstreamTerms): boolean {
  const forcesTool = isObject(choice) && (choice.type === 'any' || choice.type === 'tool');
  return forcesTool && !isObject(thinking) && forbidsForcedTool(asked, { ...terms, thinking: terms.thinking ?? null });
}

/** The caller's own adaptive thinking takes an effort, whatever the model's row says. */
function thinkingFor(asked: ReasoningAsk, body: Members, terms: UpstreamTerms): Thinking {
  const thinking = isAdaptiveAlone(body) ? 'effort' : (terms.thinking ?? null);
  return writeThinking(asked, { ...terms, thinking, stream: false });
}

function hasEffort({ output_config: config }: Members): boolean {
  return isObject(config) && !isAbsent(config.effort);
}

/** Writes what the fields of every wire ask for in the fields of this one. If the caller used those too, both agree. */
function setThinking(body: Members, terms: UpstreamTerms, edit: JsonEdit): void {
  const asked = readCommonReasoning(body);
  if (asked === null) return;
  const leftOut = isLeftOut(asked, body, terms);
  if (asked.hideReasoning && !leftOut && mayThink(asked, body, terms)) throw cannotHide(body);
  if (isObject(body.thinking) && !isAdaptiveAlone(body)) return;
  const written = leftOut ? withoutThinking(terms.thinking) : thinkingFor(asked, body, terms);
  if (written === SAYS_NOTHING && !leftOut) refuseLostBudget(asked);
  // Some models refuse a high effort without thinking.
  if (leftOut && hasEffort(body)) edit.remove(['output_config', 'effort']);
  const { thinking, effort } = written;
  if (thinking !== null && !isObject(body.thinking)) edit.set(['thinking'], JSON.stringify(thinking));
  if (effort === null) return;
  if (isObject(body.output_config)) edit.set(['output_config', 'effort'], JSON.stringify(effort));
  else edit.set(['output_config'], JSON.stringify({ effort }));
}

/** Whether there may be thinking to hide. */
function mayThink({ effort }: ReasoningAsk, { thinking }: Members, terms: UpstreamTerms): boolean {
  if (isObject(thinking)) return thinking.type !== 'disabled';
  return effort !== 'none' && (terms.thinking ?? null) !== null;
}

function cannotHide({ include_reasoning: include }: Members): GatewayError {
  const param = include === false ? 'include_reasoning' : 'reasoning.exclude';
  const message = `\`${param}\` is not supported on this route, because signed thinking must be sent back whole; use \`thinking.display\`.`;
  return new GatewayError('unsupported_parameter', { param, message });
}

/**
 * Removes reasoning of other vendors' models from earlier turns: hosts of this wire must not see it. A turn that has
 * nothing else is removed as a whole, because hosts refuse one without content.
 */
export function removeForeignReasoning({ messages }: Members, edit: JsonEdit): void {
  (messages as unknown[]).forEach((message, at) => {
    if (!isObject(message) || message.role !== 'assistant' || !Array.isArray(message.content)) return;
    const blocks = message.content as Members[];
    const foreign = blocks.flatMap((block, index) => (isForeign(block) ? [index] : []));
    if (foreign.length > 0 && foreign.length === blocks.length) edit.remove(['messages', at]);
    else for (const index of foreign) edit.remove(['messages', at, 'content', index]);
  });
}

function isForeign({ type, signature }: Members): boolean {
  return type === 'thinking' && isWrappedForeign(signature);
}
