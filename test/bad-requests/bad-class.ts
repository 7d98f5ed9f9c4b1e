import type { Random } from '../random.ts';
import { type Body, goodBody } from './good-body.ts';

/** A row of the table: a way for a request to be bad, and the answer that it must get. */
export interface BadClass {
  readonly name: string;
  readonly status: number;
  readonly code: string;
  /** Valid JSON in which exactly one field is wrong. */
  readonly oneField: boolean;
  /** How often, for requests that are expensive to send. The other rows share the rest of the ten thousand. */
  readonly times?: number;
  /** The error type that goes with the code, if it is not the usual one. */
  readonly type?: string;
  /** Whose key is sent to a hosted gateway; without one the request goes to a local gateway, which needs no key. */
  readonly key?: KeyHolder;
  make(random: Random): BadRequest;
}

/** Nobody has no key at all. */
export type KeyHolder = 'nobody' | 'penniless' | 'capped' | 'restricted';

export interface BadRequest {
  /** The field that the answer must name; a function if only the form of the answer is known in advance. */
  readonly param: string | null | ((param: string | null) => boolean);
  readonly method?: string;
  readonly path?: string;
  /** Replaces the usual headers; null removes one. */
  readonly headers?: Readonly<Record<string, string | string[] | null>>;
  readonly body?: string | Buffer | null;
  /** Sent without announcing its length. */
  readonly chunked?: boolean;
  /** The model that the body names. */
  readonly model?: unknown;
  /** The body before one of its fields was spoiled: it must pass. */
  readonly unspoiled?: Body;
}

/** Spoils one field of a good body in place, and says which. */
export type Spoil = (body: Body, random: Random) => BadRequest['param'];

interface OneFieldOptions {
  readonly status?: number;
  readonly headers?: BadRequest['headers'];
  /** Changes the text, for values that JSON can express and JavaScript cannot. */
  readonly rewrite?: (text: string, random: Random) => string;
}

export function oneField(name: string, code: string, spoil: Spoil, options: OneFieldOptions = {}): BadClass {
  const { status = 400, headers = {}, rewrite = (text: string) => text } = options;
  return {
    name,
    status,
    code,
    oneField: true,
    make: (random) => {
      const unspoiled = goodBody(random);
      const body = structuredClone(unspoiled);
      const param = spoil(body, random);
      const text = respellSome(rewrite(JSON.stringify(body), random), body, random);
      return { param, headers, body: text, model: body.model, unspoiled };
    },
  };
}

/** Sometimes a key is written with escapes, which must not hide it from us. */
function respellSome(text: string, body: Body, random: Random): string {
  if (random.chance(0.8)) return text;
  const key = random.pick(Object.keys(body));
  return text.replace(`${JSON.stringify(key)}:`, () => `"${respelt(key, random)}":`);
}

/** The same key to a JSON reader, with none, some or all of its characters escaped. */
export function respelt(key: string, random: Random): string {
  const share = random.pick([0, 0.3, 1]);
  return [...key]
    .map((one) => (random.chance(share) ? escaped(one, random) : JSON.stringify(one).slice(1, -1)))
    .join('');
}

function escaped(character: string, random: Random): string {
  const hex = character.charCodeAt(0).toString(16).padStart(4, '0');
  return `\\u${random.chance(0.5) ? hex : hex.toUpperCase()}`;
}

/** A value that is written into JSON text unchanged, by replacing a unique string. */
export function verbatim(json: string): string {
  return `@verbatim(${json})`;
}

export function writeVerbatim(text: string): string {
  return text.replace(/"@verbatim\(([^)]*)\)"/g, '$1');
}
