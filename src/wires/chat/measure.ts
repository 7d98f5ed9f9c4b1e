import type { PromptSize } from '../../canonical/prompt-size.ts';
import { type JsonText, locateJson } from '../../kit/json.ts';
import { invalidValue, isObject, unsupported } from './fields.ts';

/** A prompt's weight while it is being added up. */
export interface Measure {
  textBytes: number;
  toolBytes: number;
  messages: number;
  tools: number;
  images: number;
  /** Path of the first image, for the message that refuses it. */
  firstImage: string | null;
}

const ROLES = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function']);

export function measureMessages(messages: readonly unknown[], measure: Measure): void {
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index];
    const path = `messages[${index}]`;
    if (!isObject(message)) throw invalidValue(path, `\`${path}\` must be an object with a role and content.`);
    measureMessage(message, path, measure);
  }
  measure.messages += messages.length;
}

function measureMessage(message: Record<string, unknown>, path: string, measure: Measure): void {
  const role = message.role;
  if (typeof role !== 'string' || !ROLES.has(role)) {
    throw invalidValue(`${path}.role`, `\`${path}.role\` must be one of ${[...ROLES].join(', ')}.`);
  }
  measureContent(message.content, `${path}.content`, measure);
  addText(message.name, `${path}.name`, measure);
  addText(message.refusal, `${path}.refusal`, measure);
  addText(message.reasoning, `${path}.reasoning`, measure);
  addText(message.reasoning_content, `${path}.reasoning_content`, measure);
  addText(message.tool_call_id, `${path}.tool_call_id`, measure);
  if (isObject(message.function_call)) measureFunction(message.function_call, `${path}.function_call`, measure);
  measureToolCalls(message.tool_calls, `${path}.tool_calls`, measure);
  if (message.audio !== undefined && message.audio !== null) {
    throw unsupported(
      `${path}.audio`,
      `\`${path}.audio\` is not supported: audio has no price here; send its transcript.`,
    );
  }
  measureDetails(message.reasoning_details, `${path}.reasoning_details`, measure);
}

function measureContent(content: unknown, path: string, measure: Measure): void {
  if (content === undefined || content === null) return;
  if (typeof content === 'string') {
    measure.textBytes += Buffer.byteLength(content);
    return;
  }
  if (!Array.isArray(content)) throw invalidValue(path, `\`${path}\` must be a string or a list of parts.`);
  for (let index = 0; index < content.length; index++) measurePart(content[index], `${path}[${index}]`, measure);
}

function measurePart(part: unknown, path: string, measure: Measure): void {
  if (!isObject(part)) throw invalidValue(path, `\`${path}\` must be an object with a type.`);
  switch (part.type) {
    case 'text':
      addRequiredText(part.text, `${path}.text`, measure);
      return;
    case 'refusal':
      addRequiredText(part.refusal, `${path}.refusal`, measure);
      return;
    case 'image_url':
      measureImage(part.image_url, `${path}.image_url`, measure);
      return;
    case undefined:
      throw invalidValue(`${path}.type`, `\`${path}.type\` is missing; it must be "text" or "image_url".`);
    default:
      throw unsupported(
        `${path}.type`,
        `\`${path}.type\` ${JSON.stringify(String(part.type).slice(0, 40))} has no price here; send "text" or "image_url" parts.`,
      );
  }
}

function measureImage(image: unknown, path: string, measure: Measure): void {
  const url = isObject(image) ? image.url : undefined;
  if (typeof url !== 'string' || url === '') {
    throw invalidValue(`${path}.url`, `\`${path}.url\` must be a data: or https: URL.`);
  }
  measure.images++;
  measure.firstImage ??= path;
}

function measureToolCalls(calls: unknown, path: string, measure: Measure): void {
  if (calls === undefined || calls === null) return;
  if (!Array.isArray(calls)) throw invalidValue(path, `\`${path}\` must be a list.`);
  for (let index = 0; index < calls.length; index++) {
    const call = calls[index];
    if (!isObject(call)) throw invalidValue(`${path}[${index}]`, `\`${path}[${index}]\` must be an object.`);
    addText(call.id, `${path}[${index}].id`, measure);
    const called = call.function ?? call.custom;
    if (!isObject(called)) {
      throw invalidValue(
        `${path}[${index}].function`,
        `\`${path}[${index}].function\` must be an object with a name and arguments.`,
      );
    }
    measureFunction(called, `${path}[${index}].function`, measure);
  }
}

function measureFunction(called: Record<string, unknown>, path: string, measure: Measure): void {
  for (const name of ['name', 'arguments', 'input']) {
    const value = called[name];
    if (value === undefined || value === null) continue;
    if (typeof value !== 'string') throw invalidValue(`${path}.${name}`, `\`${path}.${name}\` must be a string.`);
    measure.toolBytes += Buffer.byteLength(value);
  }
}

/** Opaque reasoning is carried back as the host gave it; its text and signatures weigh as text. */
function measureDetails(details: unknown, path: string, measure: Measure): void {
  if (details === undefined || details === null) return;
  if (!Array.isArray(details)) throw invalidValue(path, `\`${path}\` must be a list.`);
  for (const detail of details) {
    if (!isObject(detail)) throw invalidValue(path, `\`${path}\` must be a list of objects.`);
    for (const value of Object.values(detail)) {
      if (typeof value === 'string') measure.textBytes += Buffer.byteLength(value);
    }
  }
}

function addText(value: unknown, path: string, measure: Measure): void {
  if (value === undefined || value === null) return;
  addRequiredText(value, path, measure);
}

function addRequiredText(value: unknown, path: string, measure: Measure): void {
  if (typeof value !== 'string') throw invalidValue(path, `\`${path}\` must be a string.`);
  measure.textBytes += Buffer.byteLength(value);
}

/** Schemas weigh as their bytes stand in the body: counting them again from the value would cost a second pass. */
export function measureTools(text: JsonText, body: Record<string, unknown>, measure: Measure): void {
  for (const field of ['tools', 'functions', 'response_format', 'tool_choice', 'function_call']) {
    const value = body[field];
    if (value === undefined || value === null) continue;
    const span = locateJson(text.bytes, [field])!;
    measure.toolBytes += span.end - span.start;
    if (Array.isArray(value)) measure.tools += value.length;
  }
  if (Array.isArray(body.tools)) checkTools(body.tools);
}

function checkTools(tools: readonly unknown[]): void {
  for (let index = 0; index < tools.length; index++) {
    const tool = tools[index];
    const path = `tools[${index}]`;
    if (!isObject(tool)) throw invalidValue(path, `\`${path}\` must be an object.`);
    const type = tool.type;
    if (type !== 'function' && type !== 'custom') {
      if (typeof type !== 'string') throw invalidValue(`${path}.type`, `\`${path}.type\` must be "function".`);
      throw unsupported(
        `${path}.type`,
        `\`${path}.type\` is a server-side tool, which has no price here; offer function tools.`,
      );
    }
    const definition = tool[type];
    if (!isObject(definition) || typeof definition.name !== 'string' || definition.name === '') {
      throw invalidValue(`${path}.${type}.name`, `\`${path}.${type}.name\` must be a string.`);
    }
  }
}

export function sizeOf(measure: Measure): PromptSize {
  return {
    textBytes: measure.textBytes,
    toolBytes: measure.toolBytes,
    messages: measure.messages,
    tools: measure.tools,
    images: measure.images,
    tokenIds: 0,
  };
}
