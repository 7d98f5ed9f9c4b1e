import type { JsonText } from '../../json/json.ts';
import { checkBreakpoint } from '../fields/cache-options.ts';
import { FUNCTION_FORM } from '../fields/custom-input.ts';
import { readString } from '../fields/field-checks.ts';
import { FILE_MEMBERS, visitFile } from '../fields/inline-file.ts';
import { isAbsent, isObject, type Members, objectsIn } from '../fields/members.ts';
import {
  PromptMeasure,
  type PromptVisitor,
  TextCollector,
  visitCacheMarks,
  visitRest,
  visitUnknown,
} from '../fields/prompt-visitor.ts';
import { mustBe, unsupported } from '../fields/request-errors.ts';
import { countFormats } from '../fields/response-format.ts';

const SCHEMA_FIELDS = ['tools', 'functions', 'response_format', 'tool_choice', 'function_call'];

/** Measures everything in a body that a host may read; `unknownFields` are fields that this wire does not know. */
export function measureBody(text: JsonText, body: Members, unknownFields: readonly string[]): PromptMeasure {
  const measure = new PromptMeasure();
  visitMessages(body.messages as unknown[], measure);
  if (Array.isArray(body.tools)) checkTools(body.tools);
  visitCacheMarks(body, measure);
  for (const tool of objectsIn(body.tools)) {
    visitCacheMarks(tool, measure);
    visitCacheMarks(tool.function, measure);
  }
  visitFields(text, body, unknownFields, measure);
  return measure;
}

/** Collects the texts that `measureBody` measures. */
export function collectTexts(text: JsonText, body: Members, unknownFields: readonly string[]): TextCollector {
  const collector = new TextCollector();
  visitMessages(body.messages as unknown[], collector);
  visitFields(text, body, unknownFields, collector);
  return collector;
}

function visitFields(text: JsonText, body: Members, unknownFields: readonly string[], visitor: PromptVisitor): void {
  for (const field of SCHEMA_FIELDS) if (!isAbsent(body[field])) visitor.schema(text, field);
  for (const field of unknownFields) visitUnknown(body[field], visitor);
  for (const tool of objectsIn(body.tools)) if (tool.type === 'custom') visitor.toolText(FUNCTION_FORM);
}

/** Tools, under the current and the older field name, and the response format. */
export function countTools(body: Members): number {
  const functions = Array.isArray(body.functions) ? body.functions.length : 0;
  return objectsIn(body.tools).length + functions + countFormats(body.response_format);
}

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'];

/** Walks all messages; throws for content that no host can read or that has no price. */
function visitMessages(messages: readonly unknown[], visitor: PromptVisitor): void {
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index];
    const path = `messages[${index}]`;
    if (!isObject(message)) throw mustBe(path, 'an object with a role and content');
    visitMessage(message, path, visitor);
  }
}

function visitMessage(message: Members, path: string, visitor: PromptVisitor): void {
  if (!ROLES.includes(message.role as string)) throw mustBe(`${path}.role`, `one of ${ROLES.join(', ')}`);
  visitCacheMarks(message, visitor);
  checkBreakpoint(message, path);
  for (const name of Object.keys(message)) {
    const value = message[name];
    if (value !== null && name !== 'role') visitMember(name, value, path, visitor);
  }
}

function visitMember(name: string, value: unknown, message: string, visitor: PromptVisitor): void {
  const path = `${message}.${name}`;
  switch (name) {
    case 'content':
      visitContent(value, path, visitor);
      return;
    case 'name':
    case 'refusal':
    case 'reasoning':
    case 'reasoning_content':
    case 'tool_call_id':
      visitor.text(readString(value, path));
      return;
    case 'tool_calls':
      visitToolCalls(value, path, visitor);
      return;
    case 'function_call':
      visitCalled(value, path, visitor);
      return;
    case 'reasoning_details':
      visitDetails(value, path, visitor);
      return;
    case 'audio':
      throw unsupported(path, `\`${path}\` is not supported: audio has no price here; send its transcript.`);
    default:
      visitUnknown(value, visitor);
  }
}

function visitContent(content: unknown, path: string, visitor: PromptVisitor): void {
  if (typeof content === 'string') {
    visitor.text(content);
    return;
  }
  if (!Array.isArray(content)) throw mustBe(path, 'a string or a list of parts');
  for (let index = 0; index < content.length; index++) visitPart(content[index], `${path}[${index}]`, visitor);
}

function visitPart(part: unknown, path: string, visitor: PromptVisitor): void {
  if (!isObject(part)) throw mustBe(path, 'an object with a type');
  visitor.part();
  switch (part.type) {
    case 'text':
      visitor.text(readString(part.text, `${path}.text`));
      break;
    case 'refusal':
      visitor.text(readString(part.refusal, `${path}.refusal`));
      break;
    case 'image_url':
      visitImage(part.image_url, `${path}.image_url`, visitor);
      break;
    case 'file':
      visitFilePart(part.file, `${path}.file`, visitor);
      break;
    default:
      throw refusedPart(part.type, `${path}.type`);
  }
  checkBreakpoint(part, path);
  visitRest(part, PART_MEMBERS[part.type], visitor);
}

/** Members that are already measured, or that no model reads. */
const PART_MEMBERS = {
  text: new Set(['type', 'text', 'cache_control']),
  refusal: new Set(['type', 'refusal', 'cache_control']),
  image_url: new Set(['type', 'image_url', 'cache_control']),
  file: new Set(['type', 'file', 'cache_control']),
};
const IMAGE_MEMBERS = new Set(['url', 'detail']);
const CALL_MEMBERS = new Set(['id', 'type', 'function', 'custom', 'index']);
const CALLED_MEMBERS = new Set(['name', 'arguments', 'input']);

function refusedPart(type: unknown, path: string) {
  if (typeof type !== 'string') return mustBe(path, '"text", "image_url" or "file"');
  const named = JSON.stringify(type.slice(0, 40));
  return unsupported(path, `\`${path}\` ${named} has no price here; send "text", "image_url" or "file" parts.`);
}

/** Other data would be a document, and the price of an image does not cover its pages. */
const IMAGE_ADDRESS = /^(?:https?:\/\/|data:image\/)/i;

/** The address may stand alone, without an object around it. */
function visitImage(image: unknown, path: string, visitor: PromptVisitor): void {
  const url = isObject(image) ? image.url : image;
  if (typeof url !== 'string' || !IMAGE_ADDRESS.test(url)) {
    throw mustBe(typeof image === 'string' ? path : `${path}.url`, 'an https: address or a data: URL of an image');
  }
  visitor.image(path);
  if (isObject(image)) visitRest(image, IMAGE_MEMBERS, visitor);
}

function visitFilePart(file: unknown, path: string, visitor: PromptVisitor): void {
  if (!isObject(file)) throw mustBe(path, 'an object with `file_data`');
  visitFile(file, path, visitor);
  visitRest(file, FILE_MEMBERS, visitor);
}

function visitToolCalls(calls: unknown, path: string, visitor: PromptVisitor): void {
  if (!Array.isArray(calls)) throw mustBe(path, 'a list');
  for (let index = 0; index < calls.length; index++) {
    const call = calls[index];
    const at = `${path}[${index}]`;
    if (!isObject(call)) throw mustBe(at, 'an object');
    checkBreakpoint(call, at);
    if (!isAbsent(call.id)) visitor.text(readString(call.id, `${at}.id`));
    const kind = isAbsent(call.custom) ? 'function' : 'custom';
    visitCalled(call[kind], `${at}.${kind}`, visitor);
    if (kind === 'custom') visitUnknown(call.function, visitor);
    visitRest(call, CALL_MEMBERS, visitor);
  }
}

function visitCalled(called: unknown, path: string, visitor: PromptVisitor): void {
  if (!isObject(called)) throw mustBe(path, 'an object with a name and arguments');
  visitor.part();
  for (const name of ['name', 'arguments', 'input']) {
    const value = called[name];
    if (!isAbsent(value)) visitor.toolText(readString(value, `${path}.${name}`));
  }
  visitRest(called, CALLED_MEMBERS, visitor);
}

/** Opaque reasoning, which goes back to its vendor unchanged. */
function visitDetails(details: unknown, path: string, visitor: PromptVisitor): void {
  if (!Array.isArray(details) || !details.every(isObject)) throw mustBe(path, 'a list of objects');
  visitUnknown(details, visitor);
}

function checkTools(tools: readonly unknown[]): void {
  for (let index = 0; index < tools.length; index++) {
    const tool = tools[index];
    const path = `tools[${index}]`;
    if (!isObject(tool)) throw mustBe(path, 'an object');
    checkBreakpoint(tool, path);
    if (isObject(tool.function)) checkBreakpoint(tool.function, `${path}.function`);
    const type = tool.type;
    if (typeof type !== 'string') throw mustBe(`${path}.type`, '"function"');
    if (type !== 'function' && type !== 'custom') {
      throw unsupported(
        `${path}.type`,
        `\`${path}.type\` is a server-side tool, which has no price here; use function tools.`,
      );
    }
    const definition = tool[type];
    const name = isObject(definition) ? definition.name : undefined;
    if (typeof name !== 'string' || name === '') throw mustBe(`${path}.${type}.name`, 'a string');
  }
}
