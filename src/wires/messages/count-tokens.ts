import type { IncomingHttpHeaders } from 'node:http';
import { editJson, type JsonText, tryParseJson } from '../../json/json.ts';
import type { Members } from '../fields/members.ts';
import { PromptMeasure } from '../fields/prompt-visitor.ts';
import type { Peek } from '../peek.ts';
import { notCounted, readPromptCount } from '../usage/prompt-count.ts';
import type { PromptCounter } from '../wire.ts';
import { checkTools } from './check-tools.ts';
import { checkFields, isEmptyAsk } from './fields.ts';
import { visitPrompt } from './measure.ts';
import { needsOf, readBody, readModel } from './peek.ts';
import { readThinking } from './read-thinking.ts';
import { removeForeignReasoning } from './splice-request.ts';
import { readHostHeaders } from './vendor-headers.ts';

/** The fields of a prompt. All others are refused here, as the vendor does. */
const COUNTED = new Set([
  ...['model', 'messages', 'system', 'tools', 'tool_choice', 'thinking', 'output_config', 'output_format'],
  ...['cache_control', 'context_management', 'speed'],
]);

function peek(text: JsonText, headers: IncomingHttpHeaders): Pick<Peek, 'model' | 'needs' | 'hostHeaders'> {
  const body = readBody(text);
  const hostHeaders = readHostHeaders(headers);
  const model = readModel(body);
  checkFields(body);
  for (const name of Object.keys(body)) if (!COUNTED.has(name) && body[name] !== null) throw notCounted(name);
  const measure = new PromptMeasure();
  visitPrompt(body, measure);
  if (Array.isArray(body.tools)) checkTools(body.tools, measure);
  readThinking(body);
  return { model, needs: needsOf(body, measure), hostHeaders };
}

/** The caller's own bytes, with the host's name of the model, and without reasoning that a call would not send either. */
function spliceRequest(text: JsonText, hostModel: string): Buffer {
  const body = text.value as Members;
  const edit = text.edit();
  // Only those without a value are left, and hosts refuse them by name all the same.
  for (const name of Object.keys(body)) {
    if (!COUNTED.has(name) || isEmptyAsk(name, body[name])) edit.remove([name]);
  }
  if (body.model !== hostModel) edit.set(['model'], JSON.stringify(hostModel));
  removeForeignReasoning(body, edit);
  return edit.apply();
}

/** A translated request has an output limit and sampling fields, which this route refuses. */
function countedPart(request: Buffer): Buffer {
  const edit = editJson(request);
  const body = tryParseJson(request.toString()) as Members;
  for (const name of Object.keys(body)) if (!COUNTED.has(name)) edit.remove([name]);
  return edit.apply();
}

function writeCount(inputTokens: number): string {
  return JSON.stringify({ input_tokens: inputTokens });
}

export const countTokens: PromptCounter = {
  path: '/messages/count_tokens',
  peek,
  spliceRequest,
  countedPart,
  readCount: readPromptCount,
  writeCount,
};
