import { isAscii } from 'node:buffer';
import type { CacheWrites } from '../../canonical/cache-writes.ts';
import type { DocumentSize, PromptSize, PromptTexts } from '../../canonical/prompt-size.ts';
import type { JsonText } from '../../json/json.ts';
import { normalizedBytes } from '../../kit/normalized-bytes.ts';
import { LIMITS } from '../../limits.ts';
import { isAbsent, isObject, type Members } from './members.ts';

/** Receives everything that a walk over a prompt finds, so that sizes and exact counts never disagree. */
export interface PromptVisitor {
  text(text: string): void;
  toolText(text: string): void;
  /** A part of a message, or a tool call: hosts put markers around it. */
  part(): void;
  /** The path is for the error that refuses the image. */
  image(path: string): void;
  /** This many tools, offered in the middle of the prompt. */
  tools(count: number): void;
  /** A place where hosts write the definition of this tool once more. */
  toolReference(name: string): void;
  /** A tool that the vendor defines; the most tokens that its prompt takes. */
  vendorTool(tokens: number): void;
  /** A document whose pages only the host can count. */
  document(path: string, size: DocumentSize): void;
  /** A `cache_control` or a similar member: the host will write what comes before it to a cache. */
  cacheMark(mark: unknown): void;
  /** A field that hosts put into the prompt as JSON. */
  schema(text: JsonText, field: string): void;
}

/** Adds up the size of a prompt. */
export class PromptMeasure implements PromptVisitor {
  #textBytes = 0;
  #toolBytes = 0;
  #chars = 0;
  #normalizedExtraBytes = 0;
  #parts = 0;
  #images = 0;
  readonly #documents: DocumentSize[] = [];
  #vendorToolTokens = 0;
  firstImage: string | null = null;
  firstDocument: string | null = null;
  addedTools = 0;
  /** How often messages refer to each tool, by its name. */
  readonly toolReferences = new Map<string, number>();
  cacheWrites: CacheWrites = 'none';

  text(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.#textBytes += bytes;
    this.#chars += text.length;
    if (bytes !== text.length) this.#normalizedExtraBytes += normalizedBytes(text) - bytes;
  }

  toolText(text: string): void {
    this.#addTool(Buffer.byteLength(text), text);
  }

  part(): void {
    this.#parts++;
  }

  image(path: string): void {
    this.#images++;
    this.firstImage ??= path;
  }

  tools(count: number): void {
    this.addedTools += count;
  }

  toolReference(name: string): void {
    this.toolReferences.set(name, (this.toolReferences.get(name) ?? 0) + 1);
  }

  document(path: string, size: DocumentSize): void {
    this.#documents.push(size);
    this.firstDocument ??= path;
  }

  vendorTool(tokens: number): void {
    this.#vendorToolTokens += tokens;
  }

  /** An unknown lifetime is taken for the most expensive one. */
  cacheMark(mark: unknown): void {
    if (isAbsent(mark)) return;
    const ttl = isObject(mark) ? mark.ttl : null;
    if (!isAbsent(ttl) && ttl !== '5m' && ttl !== '30m') this.cacheWrites = 'one_hour';
    else if (this.cacheWrites === 'none') this.cacheWrites = 'default';
  }

  /** Schemas count with their bytes in the body: serialising them again would cost a second pass. */
  schema(text: JsonText, field: string): void {
    const span = text.locate([field]);
    if (span !== null) this.json(text.bytes.subarray(span.start, span.end));
  }

  json(bytes: Buffer): void {
    this.#addTool(bytes.length, isAscii(bytes) ? null : bytes.toString());
  }

  /** The text is needed only if it is not ASCII. The bound for escaped tools covers most normalised ones too. */
  #addTool(bytes: number, text: string | null): void {
    this.#toolBytes += bytes;
    this.#chars += text?.length ?? bytes;
    if (text === null || bytes === text.length) return;
    const covered = bytes * LIMITS.toolBytesInflationMax;
    this.#normalizedExtraBytes += Math.max(normalizedBytes(text) - covered, 0);
  }

  size(messages: number, tools: number): PromptSize {
    return {
      textBytes: this.#textBytes,
      toolBytes: this.#toolBytes,
      messages,
      tools,
      images: this.#images,
      tokenIds: 0,
      ...(this.#chars < this.#textBytes + this.#toolBytes && { chars: this.#chars }),
      ...(this.#parts > 0 && { parts: this.#parts }),
      ...(this.#vendorToolTokens > 0 && { vendorToolTokens: this.#vendorToolTokens }),
      ...(this.#documents.length > 0 && { documents: this.#documents }),
      ...(this.#normalizedExtraBytes > 0 && { normalizedExtraBytes: this.#normalizedExtraBytes }),
    };
  }
}

/** A host may put unknown members into the prompt, so all their bytes count. */
export function visitUnknown(value: unknown, visitor: PromptVisitor): void {
  if (typeof value === 'string') visitor.text(value);
  else if (typeof value === 'object' && value !== null) visitor.text(JSON.stringify(value));
}

/** Members of a request, a tool or a part that ask a host to cache a prompt. */
const CACHE_MARKS = ['cache_control', 'prompt_cache_breakpoint', 'prompt_cache_options'];

/** Notes the cache marks of a body, a tool or a message, whose other members are measured elsewhere. */
export function visitCacheMarks(holder: unknown, visitor: PromptVisitor): void {
  if (!isObject(holder)) return;
  for (const name of CACHE_MARKS) visitor.cacheMark(holder[name]);
}

/** Counts the unknown members of a part; the known ones are already measured, or no model reads them. */
export function visitRest(holder: Members, known: ReadonlySet<string>, visitor: PromptVisitor): void {
  for (const name of Object.keys(holder)) {
    if (CACHE_MARKS.includes(name)) visitor.cacheMark(holder[name]);
    if (!known.has(name)) visitUnknown(holder[name], visitor);
  }
}

/** Collects the texts instead of their sizes, for a token count. */
export class TextCollector implements PromptVisitor, PromptTexts {
  readonly texts: string[] = [];
  readonly toolTexts: string[] = [];

  text(text: string): void {
    this.texts.push(text);
  }

  toolText(text: string): void {
    this.toolTexts.push(text);
  }

  part(): void {}

  image(): void {}

  tools(): void {}

  toolReference(): void {}

  vendorTool(): void {}

  document(): void {}

  cacheMark(): void {}

  schema(text: JsonText, field: string): void {
    const span = text.locate([field]);
    if (span !== null) this.toolTexts.push(text.bytes.toString('utf8', span.start, span.end));
  }
}
