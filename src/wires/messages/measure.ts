import type { DocumentSize } from '../../canonical/prompt-size.ts';
import { readString } from '../fields/field-checks.ts';
import { documentSize } from '../fields/inline-file.ts';
import { isAbsent, isObject, type Members } from '../fields/members.ts';
import { readMessageList } from '../fields/message-list.ts';
import { type PromptVisitor, visitRest } from '../fields/prompt-visitor.ts';
import { mustBe, unsupported } from '../fields/request-errors.ts';
import { visitToolImage } from '../fields/tool-images.ts';
import { visitToolAddition, visitToolReference, visitToolRemoval } from './tool-changes.ts';

const ROLES = ['user', 'assistant', 'system'];

/** Walks everything that the model reads; throws for content that no host can read or that has no price. */
export function visitPrompt(body: Members, visitor: PromptVisitor): void {
  if (!isAbsent(body.system)) visitContent(body.system, 'system', TEXT_ONLY, visitor);
  const messages = readMessageList(body);
  for (let index = 0; index < messages.length; index++) visitMessage(messages[index], `messages[${index}]`, visitor);
}

/** System messages are allowed here by some versions only; the host checks that. */
function visitMessage(message: unknown, path: string, visitor: PromptVisitor): void {
  if (!isObject(message)) throw mustBe(path, 'an object with a role and content');
  if (!ROLES.includes(message.role as string)) throw mustBe(`${path}.role`, `one of ${ROLES.join(', ')}`);
  visitContent(message.content, `${path}.content`, IN_MESSAGES, visitor);
  visitRest(message, MESSAGE_MEMBERS, visitor);
}

type BlockVisit = (block: Members, path: string, visitor: PromptVisitor) => void;
type BlockTable = Readonly<Record<string, BlockVisit>>;

function visitContent(content: unknown, path: string, table: BlockTable, visitor: PromptVisitor): void {
  if (typeof content === 'string') {
    visitor.text(content);
    return;
  }
  if (!Array.isArray(content)) throw mustBe(path, 'a string or a list of blocks');
  for (let index = 0; index < content.length; index++) visitBlock(content[index], `${path}[${index}]`, table, visitor);
}

function visitBlock(block: unknown, path: string, table: BlockTable, visitor: PromptVisitor): void {
  if (!isObject(block)) throw mustBe(path, 'an object with a type');
  const type = block.type;
  if (typeof type !== 'string') throw mustBe(`${path}.type`, 'a string');
  const visit = Object.hasOwn(table, type) ? table[type] : undefined;
  if (visit === undefined) throw refusedBlock(type, `${path}.type`, table);
  visitor.part();
  visit(block, path, visitor);
}

function refusedBlock(type: string, path: string, table: BlockTable) {
  const named = JSON.stringify(type.slice(0, 40));
  return unsupported(path, `\`${path}\` ${named} has no price here; blocks may be ${Object.keys(table).join(', ')}.`);
}

const visitText: BlockVisit = (block, path, visitor) => {
  visitor.text(readString(block.text, `${path}.text`));
  visitRest(block, TEXT_MEMBERS, visitor);
};

/** Both reasoning and signature count: if the reasoning is left out, the signature contains it. */
const visitThinking: BlockVisit = (block, path, visitor) => {
  visitor.text(readString(block.thinking, `${path}.thinking`));
  if (!isAbsent(block.signature)) visitor.text(readString(block.signature, `${path}.signature`));
  visitRest(block, THINKING_MEMBERS, visitor);
};

const visitRedactedThinking: BlockVisit = (block, path, visitor) => {
  visitor.text(readString(block.data, `${path}.data`));
  visitRest(block, REDACTED_MEMBERS, visitor);
};

const visitToolUse: BlockVisit = (block, path, visitor) => {
  visitor.text(readString(block.id, `${path}.id`));
  visitor.toolText(readString(block.name, `${path}.name`));
  if (!isObject(block.input)) throw mustBe(`${path}.input`, 'an object');
  visitor.toolText(JSON.stringify(block.input));
  visitRest(block, TOOL_USE_MEMBERS, visitor);
};

const visitToolResult: BlockVisit = (block, path, visitor) => {
  visitor.text(readString(block.tool_use_id, `${path}.tool_use_id`));
  if (!isAbsent(block.content)) visitContent(block.content, `${path}.content`, IN_TOOL_RESULTS, visitor);
  visitRest(block, TOOL_RESULT_MEMBERS, visitor);
};

/** A search result of the caller: text with its source. */
const visitSearchResult: BlockVisit = (block, path, visitor) => {
  visitor.text(readString(block.source, `${path}.source`));
  visitor.text(readString(block.title, `${path}.title`));
  visitContent(block.content, `${path}.content`, TEXT_ONLY, visitor);
  visitRest(block, SEARCH_RESULT_MEMBERS, visitor);
};

/** The bytes of an inline image do not count: the catalog has the price of an image. */
const visitImage: BlockVisit = (block, path, visitor) => {
  const source = block.source;
  if (!isObject(source)) throw mustBe(`${path}.source`, 'an object with a type');
  if (source.type === 'base64') readInlineImage(source, `${path}.source`);
  else if (source.type === 'url') readImageAddress(source, `${path}.source`);
  else if (source.type === 'file') {
    throw unsupported(`${path}.source`, `\`${path}.source\`: files are not stored here; send the image itself.`);
  } else throw mustBe(`${path}.source.type`, '"base64" or "url"');
  visitor.image(path);
  visitRest(block, IMAGE_MEMBERS, visitor);
  visitRest(source, SOURCE_MEMBERS, visitor);
};

/**
 * Text has a bound of its own, and so do blocks. Pages of other documents are counted by the host, and so are the marks that
 * it adds to a document whose parts are to be cited.
 */
const visitDocument: BlockVisit = (block, path, visitor) => {
  const source = block.source;
  if (!isObject(source)) throw mustBe(`${path}.source`, 'an object with a type');
  const at = `${path}.source`;
  if (source.type === 'text') visitor.text(readString(source.data, `${at}.data`));
  else if (source.type === 'content') visitContent(source.content, `${at}.content`, IN_DOCUMENTS, visitor);
  else if (source.type === 'base64') readString(source.data, `${at}.data`);
  else if (source.type === 'url' || source.type === 'file') {
    throw unsupported(at, `\`${at}\` of type "${source.type}" is not supported; send the document itself.`);
  } else throw mustBe(`${at}.type`, '"base64", "text" or "content"');
  const isCited = isObject(block.citations) && block.citations.enabled === true;
  if (source.type === 'base64') visitor.document(path, inlineSize(source));
  else if (isCited) visitor.document(path, MEASURED_AS_TEXT);
  visitRest(block, DOCUMENT_MEMBERS, visitor);
};

const MEASURED_AS_TEXT: DocumentSize = { bytes: 0, isText: true };

function inlineSize({ media_type: mediaType, data }: Members): DocumentSize {
  return documentSize(String(mediaType ?? 'application/pdf'), String(data).length);
}

function readInlineImage(source: Members, path: string): void {
  const mediaType = source.media_type;
  if (typeof mediaType !== 'string' || !/^image\//i.test(mediaType)) {
    throw mustBe(`${path}.media_type`, "an image's media type");
  }
  readString(source.data, `${path}.data`);
}

function readImageAddress(source: Members, path: string): void {
  if (typeof source.url === 'string' && /^https?:\/\//i.test(source.url)) return;
  throw mustBe(`${path}.url`, 'an https: address');
}

const TEXT_ONLY: BlockTable = { text: visitText };
const IN_DOCUMENTS: BlockTable = { text: visitText, image: visitImage };
const SHOWN: BlockTable = { ...IN_DOCUMENTS, document: visitDocument, search_result: visitSearchResult };
const IN_TOOL_RESULTS: BlockTable = {
  ...SHOWN,
  image(block, path, visitor) {
    visitImage(block, path, visitor);
    visitToolImage(visitor);
  },
  tool_reference: visitToolReference,
};
/** Every block type that has a price; others are refused by name. */
const IN_MESSAGES: BlockTable = {
  ...SHOWN,
  tool_use: visitToolUse,
  tool_result: visitToolResult,
  thinking: visitThinking,
  redacted_thinking: visitRedactedThinking,
  tool_addition: visitToolAddition,
  tool_removal: visitToolRemoval,
};

/** Members that are already measured, or that no model reads. */
const MESSAGE_MEMBERS = new Set(['role', 'content']);
const TEXT_MEMBERS = new Set(['type', 'text', 'cache_control']);
const TOOL_USE_MEMBERS = new Set(['type', 'id', 'name', 'input', 'cache_control']);
const THINKING_MEMBERS = new Set(['type', 'thinking', 'signature', 'cache_control']);
const REDACTED_MEMBERS = new Set(['type', 'data', 'cache_control']);
const SEARCH_RESULT_MEMBERS = new Set(['type', 'source', 'title', 'content', 'citations', 'cache_control']);
const DOCUMENT_MEMBERS = new Set(['type', 'source', 'citations', 'cache_control']);
const IMAGE_MEMBERS = new Set(['type', 'source', 'cache_control']);
const SOURCE_MEMBERS = new Set(['type', 'media_type', 'data', 'url']);
const TOOL_RESULT_MEMBERS = new Set(['type', 'tool_use_id', 'content', 'is_error', 'cache_control']);
