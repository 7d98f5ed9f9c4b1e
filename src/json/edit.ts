import {
  findMember,
  hasKey,
  type JsonContainer,
  type JsonContainers,
  type JsonMember,
  type JsonPath,
  type JsonSpan,
} from './container.ts';
import { formatPath } from './error.ts';

/** An impossible edit: into a scalar, overlapping another edit, or to a key that already exists. */
export class JsonEditError extends Error {
  override readonly name = 'JsonEditError';
}

/** A range of bytes and the text that replaces it. */
interface Splice extends JsonSpan {
  readonly text: string;
}

/** Collects edits and applies them together; all other bytes stay as they were. */
export class JsonEdit {
  readonly #source: JsonContainers;
  readonly #replacements: Splice[] = [];
  /** Kept apart from `#deeper`, because nearly every edit is of the outermost object. */
  #outermost: ContainerEdit | null = null;
  #deeper: Map<JsonContainer, ContainerEdit> | null = null;

  /** The text must be valid; every path refers to the text before the edits. */
  constructor(source: JsonContainers) {
    this.#source = source;
  }

  /** Replaces the value at the path, or appends it to its object (or to its array, if the index equals the length). */
  set(path: JsonPath, json: string): this {
    if (path.length === 0) return this.#replace(this.#source.locate(path)!, json);
    let container = this.#at(this.#source.start, path);
    for (let depth = 0; depth < path.length; depth++) {
      const key = path[depth]!;
      const member = container.findAlone(key);
      const isLast = depth === path.length - 1;
      if (member === undefined) {
        if (!isLast) throw new JsonEditError(`There is no parent for ${formatPath(path)}.`);
        container.append(key, json);
        break;
      }
      if (isLast) this.#replace(member, json);
      else container = this.#at(member.start, path);
    }
    return this;
  }

  /** Removes a member or element with one comma; does nothing if there is none. */
  remove(path: JsonPath): this {
    const container = this.#holderOf(path);
    const member = container?.findAlone(path.at(-1)!);
    if (member !== undefined) container!.drop(member);
    return this;
  }

  /** Renames a member where it is; does nothing if there is none. */
  rename(path: JsonPath, newKey: string): this {
    const container = this.#holderOf(path);
    const member = container?.findAlone(path.at(-1)!);
    if (member !== undefined) container!.rename(member, newKey);
    return this;
  }

  /** The edited text; the same buffer if nothing changed. */
  apply(): Buffer {
    const splices = [...this.#replacements];
    this.#outermost?.spliceInto(splices);
    if (this.#deeper !== null) for (const edit of this.#deeper.values()) edit.spliceInto(splices);
    if (splices.length === 0) return this.#source.bytes;
    if (!areInOrder(splices)) splices.sort((left, right) => left.start - right.start);
    return spliceAll(this.#source.bytes, splices);
  }

  #replace(span: JsonSpan, text: string): this {
    this.#replacements.push({ start: span.start, end: span.end, text });
    return this;
  }

  /** The container that holds the last step of a path; null if there is none. */
  #holderOf(path: JsonPath): ContainerEdit | null {
    if (path.length === 0) {
      throw new JsonEditError('The outermost value has no key: it can be set, but not removed or renamed.');
    }
    let container = this.#containerAt(this.#source.start);
    for (let depth = 0; depth < path.length - 1; depth++) {
      const member = container?.find(path[depth]!);
      if (member === undefined) return null;
      container = this.#containerAt(member.start);
    }
    return container;
  }

  #at(start: number, path: JsonPath): ContainerEdit {
    const container = this.#containerAt(start);
    if (container === null) throw new JsonEditError(`A parent of ${formatPath(path)} is not an object or array.`);
    return container;
  }

  #containerAt(start: number): ContainerEdit | null {
    const { bytes } = this.#source;
    const container = this.#source.containerAt(start);
    if (container === null) return null;
    if (start === this.#source.start) {
      this.#outermost ??= new ContainerEdit(bytes, container);
      return this.#outermost;
    }
    this.#deeper ??= new Map();
    const edit = this.#deeper.get(container) ?? new ContainerEdit(bytes, container);
    this.#deeper.set(container, edit);
    return edit;
  }
}

interface Appended {
  readonly key: string | number;
  readonly json: string;
}

/** The edits of one object or array; keeps its commas right. */
class ContainerEdit {
  readonly #bytes: Buffer;
  readonly #container: JsonContainer;
  /** Created when needed: most edits only replace. */
  #dropped: Set<JsonMember> | null = null;
  #renamed: Map<JsonMember, string> | null = null;
  #appended: Appended[] | null = null;

  constructor(bytes: Buffer, container: JsonContainer) {
    this.#bytes = bytes;
    this.#container = container;
  }

  find(key: string | number): JsonMember | undefined {
    return findMember(this.#bytes, this.#container, key);
  }

  /** Finds a member to edit and drops its duplicates, so that a parser that uses the first of two finds the edited one. */
  findAlone(key: string | number): JsonMember | undefined {
    const { isObject, members } = this.#container;
    if (typeof key === 'number' || !isObject) return this.find(key);
    let last: JsonMember | undefined;
    for (const member of members) {
      if (!hasKey(this.#bytes, member, key)) continue;
      if (last !== undefined) this.drop(last);
      last = member;
    }
    return last;
  }

  drop(member: JsonMember): void {
    this.#dropped ??= new Set();
    this.#dropped.add(member);
  }

  rename(member: JsonMember, newKey: string): void {
    if (!this.#container.isObject) throw new JsonEditError('An element of an array has no key to rename.');
    this.#renamed ??= new Map();
    if (this.#renamed.has(member)) throw new JsonEditError(`The member to be renamed ${newKey} is renamed twice.`);
    this.#renamed.set(member, newKey);
  }

  append(key: string | number, json: string): void {
    this.#appended ??= [];
    const fits = this.#container.isObject
      ? typeof key === 'string'
      : key === this.#container.members.length + this.#appended.length;
    if (!fits) throw new JsonEditError(`${JSON.stringify(key)} cannot be added to this object or array.`);
    this.#appended.push({ key, json });
  }

  spliceInto(splices: Splice[]): void {
    this.#refuseEqualKeys();
    if (this.#dropped !== null) this.#spliceDropped(this.#dropped, splices);
    if (this.#renamed !== null) {
      for (const [member, newKey] of this.#renamed) {
        splices.push({ start: member.keyStart, end: member.keyEnd, text: JSON.stringify(newKey) });
      }
    }
    if (this.#appended !== null) splices.push(this.#appendSplice(this.#appended));
  }

  /** A dropped member takes the comma before it along, or the one after it if no earlier member stays. */
  #spliceDropped(dropped: ReadonlySet<JsonMember>, splices: Splice[]): void {
    const { members } = this.#container;
    let isFirst = true;
    for (let index = 0; index < members.length; index++) {
      const member = members[index]!;
      if (!dropped.has(member)) isFirst = false;
      else if (isFirst)
        splices.push({ start: member.keyStart, end: members[index + 1]?.keyStart ?? member.end, text: '' });
      else splices.push({ start: members[index - 1]!.end, end: member.end, text: '' });
    }
  }

  #appendSplice(appended: readonly Appended[]): Splice {
    const { isObject, inside, members } = this.#container;
    const at = members.at(-1)?.end ?? inside;
    let text = '';
    let isFirst = members.length === (this.#dropped?.size ?? 0);
    for (const { key, json } of appended) {
      text += `${isFirst ? '' : ','}${isObject ? `${JSON.stringify(key)}:` : ''}${json}`;
      isFirst = false;
    }
    return { start: at, end: at, text };
  }

  #refuseEqualKeys(): void {
    // A single appended key cannot be a duplicate: it is appended only if the object does not have it.
    if (!this.#container.isObject || (this.#renamed === null && (this.#appended?.length ?? 0) < 2)) return;
    const taken = new Set<string | number>();
    for (const key of [...(this.#renamed?.values() ?? []), ...(this.#appended ?? []).map((added) => added.key)]) {
      if (taken.has(key) || this.#stays(key)) {
        throw new JsonEditError(`The edits would make two members with the key ${String(key)}.`);
      }
      taken.add(key);
    }
  }

  #stays(key: string | number): boolean {
    const member = this.find(key);
    return member !== undefined && !this.#dropped?.has(member) && !this.#renamed?.has(member);
  }
}

/** A few edits are mostly in order already; checking is cheaper than sorting. */
function areInOrder(splices: readonly Splice[]): boolean {
  for (let at = 1; at < splices.length; at++) if (splices[at - 1]!.start > splices[at]!.start) return false;
  return true;
}

/** Copies every byte once, into a buffer of the final length. */
function spliceAll(bytes: Buffer, splices: readonly Splice[]): Buffer {
  const spliced = Buffer.allocUnsafe(splicedLength(bytes, splices));
  let read = 0;
  let written = 0;
  for (const { start, end, text } of splices) {
    written += bytes.copy(spliced, written, read, start);
    if (text !== '') written += spliced.write(text, written);
    read = end;
  }
  bytes.copy(spliced, written, read);
  return spliced;
}

function splicedLength(bytes: Buffer, splices: readonly Splice[]): number {
  let length = bytes.length;
  let before = 0;
  for (const { start, end, text } of splices) {
    if (start < before) throw new JsonEditError('Two edits overlap.');
    length += (text === '' ? 0 : Buffer.byteLength(text)) - (end - start);
    before = end;
  }
  return length;
}
