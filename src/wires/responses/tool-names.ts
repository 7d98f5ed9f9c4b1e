import { createHash } from 'node:crypto';
import { isObject, isText, type Members, objectsIn } from '../fields/members.ts';

/** A tool that the caller runs, and the namespace that groups it. */
export interface CallersTool {
  readonly namespace: string | null;
  readonly name: string;
  readonly kind: 'function' | 'custom' | 'search';
}

/** The name under which a host gets the client's tool search. */
export const SEARCH_NAME = 'tool_search';

/** All tools that a request offers: those of the request, and those that its items add. */
export function offeredTools({ tools, input }: Members): Members[] {
  return [...objectsIn(tools), ...addedTools(input)];
}

/** Tools that items of the input add: those of a developer, and those that the client's tool search has found. */
export function addedTools(input: unknown): Members[] {
  if (!Array.isArray(input)) return [];
  return input.flatMap((item: unknown) => (isObject(item) && addsTools(item) ? objectsIn(item.tools) : []));
}

export function addsTools({ type }: Members): boolean {
  return type === 'additional_tools' || type === 'tool_search_output';
}

/** What hosts accept as the name of a function. */
const FUNCTION_NAME = /^[\w-]{1,64}$/;
const NAME_CHARS_MAX = 64;
const DIGEST_CHARS = 8;

/**
 * The names under which a host gets the caller's tools. Hosts know no namespaces, so a tool inside one is offered as
 * `namespace__name`, and a call is given back to the caller under its own name.
 */
export class ToolNames {
  readonly #tools = new Map<string, CallersTool>();
  readonly #flatNames = new Map<string, string>();

  /** Tools outside namespaces keep their names, so they are entered first. */
  constructor(offered: readonly Members[]) {
    for (const tool of offered) if (tool.type !== 'namespace') this.#add(null, tool);
    for (const group of offered) {
      if (group.type !== 'namespace' || !isText(group.name)) continue;
      for (const tool of objectsIn(group.tools)) this.#add(group.name, tool);
    }
  }

  /** The caller's tool that a host calls by this name. */
  find(flatName: unknown): CallersTool | undefined {
    return typeof flatName === 'string' ? this.#tools.get(flatName) : undefined;
  }

  /** The name for a host. Earlier turns may name a tool that is no longer offered. */
  flatten(namespace: unknown, name: string): string {
    if (!isText(namespace)) return name;
    return this.#flatNames.get(keyOf(namespace, name)) ?? flatName(namespace, name);
  }

  /** The name for a host of a tool that the caller names without its namespace. */
  flattenBare(name: string): string {
    if (this.#tools.has(name)) return name;
    for (const [flat, tool] of this.#tools) if (tool.name === name) return flat;
    return name;
  }

  #add(namespace: string | null, tool: Members): void {
    const kind = kindOf(tool);
    const name = kind === 'search' ? SEARCH_NAME : tool.name;
    if (!isText(name)) return;
    const plain = namespace === null ? name : flatName(namespace, name);
    if (namespace !== null && this.#flatNames.has(keyOf(namespace, name))) return;
    const flat = namespace === null ? plain : this.#freeName(plain, namespace, name);
    this.#tools.set(flat, { namespace, name, kind });
    if (namespace !== null) this.#flatNames.set(keyOf(namespace, name), flat);
  }

  /** Somebody who writes tools could compute a digest and take its name, so the digest is made again until one is free. */
  #freeName(plain: string, namespace: string, name: string): string {
    let flat = plain;
    for (let attempt = 0; this.#tools.has(flat); attempt++) flat = digestName(namespace, name, attempt);
    return flat;
  }
}

function kindOf({ type }: Members): CallersTool['kind'] {
  if (type === 'tool_search') return 'search';
  return type === 'custom' ? 'custom' : 'function';
}

function keyOf(namespace: string, name: string): string {
  return JSON.stringify([namespace, name]);
}

function flatName(namespace: string, name: string): string {
  const plain = `${namespace}__${name}`;
  return FUNCTION_NAME.test(plain) ? plain : digestName(namespace, name);
}

/** For a name that would be too long, has other characters, or is taken: its beginning and a digest of the whole. */
function digestName(namespace: string, name: string, attempt = 0): string {
  const salt = attempt === 0 ? '' : String(attempt);
  const digest = createHash('sha256')
    .update(keyOf(namespace, name) + salt)
    .digest('hex')
    .slice(0, DIGEST_CHARS);
  const beginning = `${namespace}__${name}`.replace(/[^\w-]/g, '_').slice(0, NAME_CHARS_MAX - DIGEST_CHARS - 1);
  return `${beginning}_${digest}`;
}
