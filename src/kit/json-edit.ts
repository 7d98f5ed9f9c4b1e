import {
  findMember,
  type JsonContainer,
  type JsonContainers,
  type JsonMember,
  type JsonPath,
  type JsonSpan,
} from './json-container.ts';
import { formatPath } from './json-error.ts';

export interface SetOptions {
  /** Makes the objects on the way that are not there yet. */
  createParents?: boolean;
}

/** An edit that makes no sense: into a scalar, over another edit, or to a key that is there already. */
export class JsonEditError extends Error {
  override readonly name = 'JsonEditError';
}

/** Bytes that give way to a text. */
interface Splice extends JsonSpan {
  readonly text: string;
}

/** Collects edits and applies them at once; every byte outside what was edited stays as it was written. */
export class JsonEdit {
  readonly #source: JsonContainers;
  readonly #edits = new Map<JsonContainer, ContainerEdit>();
  readonly #replacements: Splice[] = [];

  /** The text must be known to be valid; every path means the text as it was before the edits. */
  constructor(source: JsonContainers) {
    this.#source = source;
  }

  /** Replaces the value at the path, or adds it at the end of its object (of its array, if the index is its length). */
  set(path: JsonPath, json: string, options?: SetOptions): this {
    if (path.length === 0) return this.#replace(this.#source.locate(path)!, json);
    let container = this.#at(this.#source.start, path);
    for (let depth = 0; depth < path.length; depth++) {
      const member = container.find(path[depth]!);
      const isLast = depth === path.length - 1;
      if (member === undefined) {
        if (!isLast && !options?.createParents) throw new JsonEditError(`There is no parent for ${formatPath(path)}.`);
        container.append(path[depth]!, nest(path.slice(depth + 1), json));
        break;
      }
      container.dropTwins(member);
      if (isLast) this.#replace(member, json);
      else container = this.#at(member.start, path);
    }
    return this;
  }

  /** Takes a member or element out, with one comma; nothing happens if it is not there. */
  remove(path: JsonPath): this {
    const found = this.#find(path);
    if (found !== null) {
      found.container.dropTwins(found.member);
      found.container.drop(found.member);
    }
    return this;
  }

  /** Gives a member another key, in its place; nothing happens if it is not there. */
  rename(path: JsonPath, newKey: string): this {
    const found = this.#find(path);
    if (found !== null) {
      found.container.dropTwins(found.member);
      found.container.rename(found.member, newKey);
    }
    return this;
  }

  /** The edited text; the same buffer if there was nothing to do. */
  apply(): Buffer {
    const splices = [...this.#replacements];
    for (const edit of this.#edits.values()) splices.push(...edit.splices());
    if (splices.length === 0) return this.#source.bytes;
    splices.sort((left, right) => left.start - right.start);
    return spliceAll(this.#source.bytes, splices);
  }

  #replace(span: JsonSpan, text: string): this {
    this.#replacements.push({ start: span.start, end: span.end, text });
    return this;
  }

  #find(path: JsonPath): { container: ContainerEdit; member: JsonMember } | null {
    let start = this.#source.start;
    for (let depth = 0; depth < path.length; depth++) {
      const container = this.#containerAt(start);
      const member = container?.find(path[depth]!);
      if (container === null || member === undefined) return null;
      if (depth === path.length - 1) return { container, member };
      start = member.start;
    }
    throw new JsonEditError('The outermost value has no key: it can be set, but not removed or renamed.');
  }

  #at(start: number, path: JsonPath): ContainerEdit {
    const container = this.#containerAt(start);
    if (container === null) throw new JsonEditError(`A parent of ${formatPath(path)} is not an object or array.`);
    return container;
  }

  #containerAt(start: number): ContainerEdit | null {
    const container = this.#source.containerAt(start);
    if (container === null) return null;
    const edit = this.#edits.get(container) ?? new ContainerEdit(container);
    this.#edits.set(container, edit);
    return edit;
  }
}

/** What is to change among the members of one object or array; here the commas are kept right. */
class ContainerEdit {
  readonly #container: JsonContainer;
  readonly #dropped = new Set<JsonMember>();
  readonly #renamed = new Map<JsonMember, string>();
  readonly #appended: { readonly key: string | number; readonly json: string }[] = [];

  constructor(container: JsonContainer) {
    this.#container = container;
  }

  find(key: string | number): JsonMember | undefined {
    return findMember(this.#container, key);
  }

  drop(member: JsonMember): void {
    this.#dropped.add(member);
  }

  /** A reader that takes the first of two equal keys must not find what the edit was to change. */
  dropTwins(member: JsonMember): void {
    if (!this.#container.isObject) return;
    for (const other of this.#container.members) {
      if (other.key === member.key && other !== member) this.#dropped.add(other);
    }
  }

  rename(member: JsonMember, newKey: string): void {
    if (!this.#container.isObject) throw new JsonEditError('An element of an array has no key to rename.');
    if (this.#renamed.has(member)) throw new JsonEditError(`The key ${String(member.key)} is renamed twice.`);
    this.#renamed.set(member, newKey);
  }

  append(key: string | number, json: string): void {
    const fits = this.#container.isObject
      ? typeof key === 'string'
      : key === this.#container.members.length + this.#appended.length;
    if (!fits) throw new JsonEditError(`There is no place for ${JSON.stringify(key)} in this container.`);
    this.#appended.push({ key, json });
  }

  splices(): Splice[] {
    if (this.#renamed.size > 0 || this.#appended.length > 0) this.#refuseEqualKeys();
    const splices = this.#dropped.size > 0 ? this.#dropSplices() : [];
    for (const [member, newKey] of this.#renamed) {
      splices.push({ start: member.keyStart, end: member.keyEnd, text: JSON.stringify(newKey) });
    }
    if (this.#appended.length > 0) splices.push(this.#appendSplice());
    return splices;
  }

  /** A dropped member takes the comma before it along, or the one after it while nothing before it stays. */
  #dropSplices(): Splice[] {
    const { members } = this.#container;
    const splices: Splice[] = [];
    let kept: JsonMember | undefined;
    members.forEach((member, index) => {
      const before = members[index - 1];
      const after = members[index + 1];
      if (!this.#dropped.has(member)) kept = member;
      else if (kept !== undefined) splices.push({ start: before!.end, end: member.end, text: '' });
      else splices.push({ start: member.keyStart, end: after?.keyStart ?? member.end, text: '' });
    });
    return splices;
  }

  #appendSplice(): Splice {
    const { isObject, inside, members } = this.#container;
    const at = members.at(-1)?.end ?? inside;
    const added = this.#appended.map(({ key, json }) => (isObject ? `${JSON.stringify(key)}:${json}` : json)).join(',');
    return { start: at, end: at, text: members.length > this.#dropped.size ? `,${added}` : added };
  }

  #refuseEqualKeys(): void {
    if (!this.#container.isObject) return;
    const stay = this.#container.members.filter((member) => !this.#dropped.has(member) && !this.#renamed.has(member));
    const taken = new Set(stay.map(({ key }) => key));
    for (const key of [...this.#renamed.values(), ...this.#appended.map((added) => added.key)]) {
      if (taken.has(key)) throw new JsonEditError(`The edits would make two members with the key ${String(key)}.`);
      taken.add(key);
    }
  }
}

/** `['a', 'b'], 1` becomes `{"a":{"b":1}}`. */
function nest(path: JsonPath, json: string): string {
  return path.reduceRight<string>((inner, key) => {
    if (typeof key !== 'string') throw new JsonEditError('Only objects are created on the way, never arrays.');
    return `{${JSON.stringify(key)}:${inner}}`;
  }, json);
}

function spliceAll(bytes: Buffer, splices: readonly Splice[]): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const { start, end, text } of splices) {
    if (start < at) throw new JsonEditError('Two edits overlap.');
    pieces.push(bytes.subarray(at, start), Buffer.from(text));
    at = end;
  }
  pieces.push(bytes.subarray(at));
  return Buffer.concat(pieces);
}
