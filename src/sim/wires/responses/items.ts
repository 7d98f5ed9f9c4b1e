import { type Fields, isAbsent, isFields } from '../../fields.ts';
import type { PromptMessage } from '../../prompt.ts';
import { RefusedRequest, refuse } from '../../reply.ts';
import { isOwnSeal } from './reasoning.ts';

/** What reading an item may need. */
interface ItemTerms {
  readonly model: string;
  readonly store: boolean;
}

/** The conversation as messages; every item is validated as the vendor does. */
export function readInput(input: unknown, terms: ItemTerms): PromptMessage[] {
  if (isAbsent(input)) return refuse('missing_required_parameter', 'input', "Missing required parameter: 'input'.");
  if (typeof input === 'string') return [messageOf('user', input)];
  if (!Array.isArray(input) || input.length === 0) {
    return refuse('invalid_type', 'input', "Invalid type for 'input': expected a string or a list of items.");
  }
  const read: PromptMessage[] = [];
  for (const [index, item] of input.entries()) {
    const path = `input[${index}]`;
    if (!isFields(item)) return refuse('invalid_type', path, `Invalid type for '${path}': expected an object.`);
    const message = readItem(item, path, read, terms);
    if (message !== null) read.push(message);
    else checkFollowed(item, input[index + 1]);
  }
  checkAnswered(read);
  return read;
}

/** Null for a reasoning item, which adds nothing to the simulator's form. */
function readItem(
  item: Fields,
  path: string,
  before: readonly PromptMessage[],
  terms: ItemTerms,
): PromptMessage | null {
  switch (item.type ?? 'message') {
    case 'message':
      return readMessage(item, path);
    case 'function_call':
      return readCall(item, path);
    case 'function_call_output':
      return readOutput(item, path, before);
    case 'reasoning':
      checkReasoning(item, path, terms);
      return null;
    case 'item_reference':
      return notFound(`Item with id '${item.id}' not found.`);
    default:
      return refuse(
        'invalid_value',
        `${path}.type`,
        `Invalid value: '${item.type}'. Supported are the items of a turn.`,
      );
  }
}

const ROLES: readonly unknown[] = ['user', 'assistant', 'system', 'developer'];

function readMessage(item: Fields, path: string): PromptMessage {
  const { role, content } = item;
  if (!ROLES.includes(role)) {
    return refuse('invalid_value', `${path}.role`, `Invalid '${path}.role': expected one of ${ROLES.join(', ')}.`);
  }
  if (typeof content === 'string') return messageOf(role as string, content);
  if (!Array.isArray(content)) {
    return refuse('invalid_type', `${path}.content`, `Invalid type for '${path}.content': expected a string or parts.`);
  }
  const { text, images } = readParts(content, `${path}.content`, role === 'assistant');
  return { ...messageOf(role as string, text), images };
}

/** Parts that the model writes and parts that callers write; each is valid only in its own messages. */
const OUTPUT_PARTS = ['output_text', 'refusal'];
const INPUT_PARTS = ['input_text', 'input_image', 'input_file'];

function readParts(parts: readonly unknown[], path: string, byModel: boolean): { text: string; images: string[] } {
  const allowed = byModel ? OUTPUT_PARTS : INPUT_PARTS;
  let text = '';
  const images: string[] = [];
  for (const [index, part] of parts.entries()) {
    const fields = isFields(part) ? part : {};
    const { type } = fields;
    if (typeof type !== 'string' || !allowed.includes(type)) {
      const known = allowed.map((name) => `'${name}'`).join(', ');
      refuse('invalid_value', `${path}[${index}]`, `Invalid value: '${type}'. Supported values are: ${known}.`);
    }
    if (type === 'input_image' || type === 'input_file') images.push(addressOf(fields, `${path}[${index}]`));
    else text += readText(fields, type === 'refusal' ? 'refusal' : 'text', `${path}[${index}]`);
  }
  return { text, images };
}

function readText(part: Fields, member: string, path: string): string {
  const text = part[member];
  if (typeof text === 'string') return text;
  return refuse('invalid_type', `${path}.${member}`, `Invalid type for '${path}.${member}': expected a string.`);
}

function addressOf(part: Fields, path: string): string {
  const member = part.type === 'input_image' ? 'image_url' : 'file_data';
  const address = part[member] ?? part.file_id ?? part.file_url;
  if (typeof address === 'string') return address;
  return refuse('invalid_type', `${path}.${member}`, `Invalid type for '${path}.${member}': expected a string.`);
}

function readCall({ call_id: id, name, arguments: args }: Fields, path: string): PromptMessage {
  if (typeof id !== 'string' || typeof name !== 'string' || typeof args !== 'string') {
    return refuse('invalid_type', path, `Invalid '${path}': expected call_id, name and arguments as strings.`);
  }
  return { ...messageOf('assistant', ''), toolCalls: [{ id, name, arguments: args }] };
}

function readOutput(item: Fields, path: string, before: readonly PromptMessage[]): PromptMessage {
  const { call_id: id, output } = item;
  if (typeof id !== 'string') {
    return refuse('missing_required_parameter', `${path}.call_id`, `Missing required parameter: '${path}.call_id'.`);
  }
  if (!before.some((message) => message.toolCalls.some((call) => call.id === id))) {
    refuse('invalid_value', 'input', `No tool call found for function call output with call_id ${id}.`);
  }
  if (typeof output !== 'string' && !Array.isArray(output)) {
    return refuse('invalid_type', `${path}.output`, `Invalid type for '${path}.output': expected a string or parts.`);
  }
  const said = typeof output === 'string' ? { text: output, images: [] } : readParts(output, `${path}.output`, false);
  return { role: 'tool', toolCalls: [], toolCallId: id, ...said };
}

function checkAnswered(messages: readonly PromptMessage[]): void {
  const answered = new Set(messages.map((message) => message.toolCallId));
  for (const { toolCalls } of messages) {
    const open = toolCalls.find((call) => !answered.has(call.id));
    if (open !== undefined) refuse('invalid_value', 'input', `No tool output found for function call ${open.id}.`);
  }
}

function checkReasoning(item: Fields, path: string, { model, store }: ItemTerms): void {
  if (!Array.isArray(item.summary)) {
    refuse('missing_required_parameter', `${path}.summary`, `Missing required parameter: '${path}.summary'.`);
  }
  const sealed = item.encrypted_content;
  if (!isAbsent(sealed)) {
    if (typeof sealed === 'string' && isOwnSeal(model, sealed)) return;
    refuse(
      'invalid_encrypted_content',
      null,
      `The encrypted content for item ${nameOf(item)} could not be verified. ` +
        'Reason: Encrypted content could not be decrypted or parsed.',
    );
  }
  if (store) return;
  notFound(
    `Item with id '${nameOf(item)}' not found. Items are not persisted when \`store\` is set to false. ` +
      'Try again with `store` set to true, or remove this item from your input.',
  );
}

/** Reasoning must be followed by the item it belongs to. */
function checkFollowed(reasoning: Fields, next: unknown): void {
  const fields = isFields(next) ? next : {};
  const type = isFields(next) ? (fields.type ?? 'message') : 'nothing';
  const isOwn = type === 'message' ? fields.role === 'assistant' : type === 'function_call' || type === 'reasoning';
  if (isOwn) return;
  const message = `Item '${nameOf(reasoning)}' of type 'reasoning' was provided without its required following item.`;
  throw new RefusedRequest({ status: 400, message, type: 'invalid_request_error', code: null, param: 'input' });
}

function nameOf(item: Fields): string {
  return typeof item.id === 'string' ? item.id : 'rs_unnamed';
}

function notFound(message: string): never {
  throw new RefusedRequest({ status: 404, message, type: 'invalid_request_error', code: null, param: 'input' });
}

function messageOf(role: string, text: string): PromptMessage {
  return { role, text, images: [], toolCalls: [], toolCallId: null };
}
