import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectSame } from '../../test/expect-same.ts';
import { randomCases } from '../../test/random-cases.ts';
import {
  editJson,
  JsonEditError,
  JsonError,
  type JsonPath,
  locateJson,
  parseJson,
  readJson,
  scanJson,
  tryParseJson,
} from './json.ts';

/** Together 100,000 bodies at full size. Every run of the suite tries others, so it makes do with a quarter of them. */
const SHARE = process.env.TOLLGATE_JSON_BODIES === 'all' ? 1 : 0.25;
const GENERATED_RUNS = randomCases(30_000 * SHARE);
const MUTATED_RUNS = randomCases(45_000 * SHARE);
const LOCATED_RUNS = randomCases(3_000 * SHARE);
const EDITED_RUNS = randomCases(12_000 * SHARE);
const SEVERAL_EDITS_RUNS = randomCases(10_000 * SHARE);

const LIMITS = { depthMax: 32, nodesMax: 10_000, keysMax: 10_000, numberDigitsMax: 60, keyBytesMax: 200 };

/** A JSON text with odd white space and odd escapes, and the position of each of its values. */
interface Written {
  readonly bytes: Buffer;
  /** Built from the parts, because V8 sometimes misreads escaped keys. */
  readonly value: unknown;
  readonly hasEqualKeys: boolean;
  readonly values: readonly Place[];
}

interface Place {
  readonly path: JsonPath;
  readonly start: number;
  readonly end: number;
  /** The position of its key with the quotes; an element has none. */
  readonly keyStart: number;
  readonly keyEnd: number;
}

type Node =
  | { readonly kind: 'scalar'; readonly text: string }
  | { readonly kind: 'array'; readonly spaces: number; readonly items: readonly Node[] }
  | { readonly kind: 'object'; readonly spaces: number; readonly members: readonly (readonly [Key, Node])[] };

interface Key {
  readonly key: string;
  /** Which of its characters are written as escapes. */
  readonly escapes: number;
}

const SPACES = ['', ' ', '\n', '\t\r\n  '];
const KEYS = [
  'model',
  'a',
  'b',
  'c',
  '',
  '__proto__',
  'constructor',
  'toString',
  '0',
  '17',
  'é',
  '日本',
  '😀',
  'x"y',
  '\\',
  '\n',
];
const SCALARS = [
  ...['true', 'false', 'null', '0', '-0', '1.50', '1E5', '-2.5e-10', '12345678901234567890', '1e999', '""', '"a"'],
  ...['"\\u0041"', '"\\ud800"', '"😀"', '"\\\\"', '"\\""', '"}]{[,:"', '"\\/\\b"', '"\u007f"'],
  JSON.stringify(`${'long text, with "quotes" and \\ backslashes. '.repeat(3)}\\`),
];

const keys: fc.Arbitrary<Key> = fc.record(
  { key: fc.constantFrom(...KEYS), escapes: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(255)) },
  { noNullPrototype: true },
);

const nodes = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    { weight: 2, arbitrary: fc.constantFrom(...SCALARS).map((text): Node => ({ kind: 'scalar', text })) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.nat(1000), fc.array(tie('node'), { maxLength: 4 }))
        .map(([spaces, items]): Node => ({ kind: 'array', spaces, items })),
    },
    {
      weight: 3,
      arbitrary: fc
        .tuple(fc.nat(1000), fc.array(fc.tuple(keys, tie('node')), { maxLength: 5 }))
        .map(([spaces, members]): Node => ({ kind: 'object', spaces, members })),
    },
  ),
})).node;

const documents = nodes.map(writeDocument);
const editableDocuments = fc
  .tuple(fc.nat(1000), fc.array(fc.tuple(keys, nodes), { minLength: 1, maxLength: 5 }))
  .map(([spaces, members]) => writeDocument(withoutEqualKeys({ kind: 'object', spaces, members })));

function withoutEqualKeys(node: Node): Node {
  if (node.kind === 'scalar') return node;
  if (node.kind === 'array') return { ...node, items: node.items.map(withoutEqualKeys) };
  const byKey = new Map(node.members.map((member) => [member[0].key, member]));
  return { ...node, members: [...byKey.values()].map(([key, child]) => [key, withoutEqualKeys(child)]) };
}

function plainValue(node: Node): unknown {
  if (node.kind === 'scalar') return parseJson(node.text);
  if (node.kind === 'array') return node.items.map(plainValue);
  return Object.fromEntries(node.members.map(([{ key }, child]) => [key, plainValue(child)]));
}

function writeDocument(root: Node): Written {
  const values: Place[] = [];
  let text = '';
  let bytes = 0;
  let spaces = 0;
  let hasEqualKeys = false;
  const put = (piece: string): void => {
    text += piece;
    bytes += Buffer.byteLength(piece);
  };
  const putSpace = (): void => put(SPACES[spaces++ % SPACES.length]!);
  const putNode = (node: Node, path: JsonPath, keyStart: number, keyEnd: number): void => {
    const start = bytes;
    if (node.kind === 'scalar') put(node.text);
    else {
      spaces += node.spaces;
      put(node.kind === 'array' ? '[' : '{');
      const count = node.kind === 'array' ? node.items.length : node.members.length;
      for (let index = 0; index < count; index++) {
        putSpace();
        if (node.kind === 'array') putNode(node.items[index]!, [...path, index], bytes, bytes);
        else putMember(node.members[index]!, path);
        putSpace();
        if (index < count - 1) put(',');
      }
      if (node.kind === 'object') hasEqualKeys ||= new Set(node.members.map(([{ key }]) => key)).size < count;
      put(node.kind === 'array' ? ']' : '}');
    }
    values.push({ path, start, end: bytes, keyStart, keyEnd });
  };
  const putMember = ([key, node]: readonly [Key, Node], path: JsonPath): void => {
    const keyStart = bytes;
    put(spell(key));
    const keyEnd = bytes;
    putSpace();
    put(':');
    putSpace();
    putNode(node, [...path, key.key], keyStart, keyEnd);
  };
  putSpace();
  putNode(root, [], 0, 0);
  putSpace();
  return { bytes: Buffer.from(text), value: plainValue(root), hasEqualKeys, values };
}

function spell({ key, escapes }: Key): string {
  const units = Array.from({ length: key.length }, (_, index) => key[index]!);
  if (escapes === 0) return JSON.stringify(key);
  const isWhole = /^[\x20-\x7e]*$/.test(key);
  const spelt = units.map((unit, index) => {
    if (isWhole && (escapes & (1 << index)) === 0) return JSON.stringify(unit).slice(1, -1);
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `"${spelt.join('')}"`;
}

interface Mutation {
  readonly kind: 'replace' | 'insert' | 'delete' | 'repeat' | 'cut';
  readonly at: number;
  readonly byte: number;
}

const LIKELY_BYTES = [...'{}[]",:\\u0e-.+ \n\u0000tfn1'].map((character) => character.charCodeAt(0));
const mutations: fc.Arbitrary<Mutation[]> = fc.array(
  fc.record(
    {
      kind: fc.constantFrom('replace', 'insert', 'delete', 'repeat', 'cut'),
      at: fc.nat(10_000),
      byte: fc.oneof(fc.constantFrom(...LIKELY_BYTES), fc.nat(255)),
    },
    { noNullPrototype: true },
  ),
  { minLength: 1, maxLength: 3 },
);

function mutate(bytes: Buffer, mutation: Mutation): Buffer {
  const at = mutation.at % (bytes.length + 1);
  const before = bytes.subarray(0, at);
  const one = Buffer.of(mutation.byte);
  if (mutation.kind === 'cut') return Buffer.from(before);
  if (mutation.kind === 'insert') return Buffer.concat([before, one, bytes.subarray(at)]);
  if (mutation.kind === 'delete') return Buffer.concat([before, bytes.subarray(at + 1)]);
  if (mutation.kind === 'replace') return Buffer.concat([before, one, bytes.subarray(at + 1)]);
  return Buffer.concat([before, bytes.subarray(at, at + 12), bytes.subarray(at)]);
}

/** Marks a refusal; null could be a value. */
function scan(bytes: Buffer): { readonly code: string | null; readonly value?: unknown } {
  try {
    return { code: null, value: scanJson(bytes, LIMITS).value };
  } catch (error) {
    if (error instanceof JsonError) return { code: error.code };
    throw error;
  }
}

describe('scanJson, for any JSON text', () => {
  it('reads it, but refuses duplicate keys in one object, also with different escapes', () => {
    fc.assert(
      fc.property(documents, ({ bytes, value, hasEqualKeys }) => {
        const scanned = scan(bytes);
        expectSame(scanned.code, hasEqualKeys ? 'duplicate_key' : null);
        if (!hasEqualKeys) expectSame(scanned.value, value);
      }),
      { numRuns: GENERATED_RUNS },
    );
  });

  it('reads damaged bytes as JSON.parse does, or refuses them, and never fails otherwise', () => {
    fc.assert(
      fc.property(documents, mutations, (document, changes) => {
        const bytes = changes.reduce(mutate, document.bytes);
        const { code, value } = scan(bytes);
        const parsed = isUtf8(bytes) ? tryParseJson(bytes.toString()) : undefined;
        if (parsed === undefined && code === null) throw new Error('It reads what is not JSON.');
        if (parsed !== undefined && code === 'syntax') throw new Error('It refuses JSON.');
        if (code === null && !bytes.includes('\\')) expectSame(value, parsed);
      }),
      { numRuns: MUTATED_RUNS },
    );
  });
});

interface Edit {
  readonly kind: 'set' | 'add' | 'remove' | 'rename';
  readonly at: number;
  readonly json: string;
}

const edits: fc.Arbitrary<Edit> = fc.record(
  {
    kind: fc.constantFrom('set', 'add', 'remove', 'rename'),
    at: fc.nat(1000),
    json: fc.constantFrom(...SCALARS, '{"new":[1, 2]}', '[ ]'),
  },
  { noNullPrototype: true },
);

/** Applies the edits to the value instead of the bytes, as a model to compare with. */
class Model {
  readonly replaced = new Map<string, unknown>();
  readonly removed = new Set<string>();
  readonly renamed = new Map<string, string>();
  readonly added = new Map<string, [string, unknown][]>();

  apply(value: unknown, path: JsonPath = []): unknown {
    const place = JSON.stringify(path);
    if (this.replaced.has(place)) return this.replaced.get(place);
    if (typeof value !== 'object' || value === null) return value;
    const stays = (key: string | number): boolean => !this.removed.has(JSON.stringify([...path, key]));
    if (Array.isArray(value)) {
      const items = value.map((item, index): [number, unknown] => [index, this.apply(item, [...path, index])]);
      return items.filter(([index]) => stays(index)).map(([, item]) => item);
    }
    const members = Object.entries(value).filter(([key]) => stays(key));
    const kept = members.map(([key, child]): [string, unknown] => {
      const childPath = [...path, key];
      return [this.renamed.get(JSON.stringify(childPath)) ?? key, this.apply(child, childPath)];
    });
    return Object.fromEntries([...kept, ...(this.added.get(place) ?? [])]);
  }
}

function planEdit(edit: ReturnType<typeof editJson>, model: Model, change: Edit, place: Place, name: string): void {
  const key = JSON.stringify(place.path);
  if (change.kind === 'set') {
    edit.set(place.path, change.json);
    model.replaced.set(key, parseJson(change.json));
  } else if (change.kind === 'remove') {
    edit.remove(place.path);
    model.removed.add(key);
  } else if (change.kind === 'rename') {
    edit.rename(place.path, name);
    model.renamed.set(key, name);
  } else {
    edit.set([...place.path, name], change.json);
    model.added.set(key, [...(model.added.get(key) ?? []), [name, parseJson(change.json)]]);
  }
}

function placeOf(change: Edit, { values }: Written): Place {
  return values[change.at % values.length]!;
}

/** True if the edit is possible there: only objects take new keys, and only members can be renamed. */
function isPossible(change: Edit, document: Written): boolean {
  const place = placeOf(change, document);
  if (change.kind === 'add') return document.bytes[place.start] === 0x7b;
  if (change.kind === 'rename') return place.keyEnd > place.keyStart;
  return change.kind === 'set' || place.path.length > 0;
}

function applyEdits(document: Written, changes: readonly Edit[]): { bytes: Buffer; model: Model } {
  const model = new Model();
  const edit = editJson(document.bytes);
  changes.forEach((change, index) => {
    planEdit(edit, model, change, placeOf(change, document), `new"${index}`);
  });
  return { bytes: edit.apply(), model };
}

/** True if two of the places are the same, or one is inside another. */
function areNested(places: readonly Place[]): boolean {
  return places.some((outer, index) =>
    places.some((inner, other) => index !== other && outer.start <= inner.start && inner.end <= outer.end),
  );
}

function expectedBytes(bytes: Buffer, start: number, end: number, text: string): string {
  return Buffer.concat([bytes.subarray(0, start), Buffer.from(text), bytes.subarray(end)]).toString('latin1');
}

function commonBytes(left: Buffer, right: Buffer, isFromEnd: boolean): number {
  const shorter = Math.min(left.length, right.length);
  let count = 0;
  while (count < shorter && left.at(isFromEnd ? -1 - count : count) === right.at(isFromEnd ? -1 - count : count))
    count++;
  return count;
}

describe('editJson, for any JSON text', () => {
  it('finds every value at its position', () => {
    fc.assert(
      fc.property(editableDocuments, ({ bytes, values }) => {
        const read = [scanJson(bytes, LIMITS), readJson(bytes)];
        for (const { path, start, end } of values) {
          const found = [locateJson(bytes, path), ...read.map((text) => text.locate(path))];
          expectSame(
            found.map((span) => span && [span.start, span.end]),
            found.map(() => [start, end]),
          );
        }
      }),
      { numRuns: LOCATED_RUNS },
    );
  });

  it('changes the given value and no other byte', () => {
    fc.assert(
      fc.property(editableDocuments, edits, (document, change) => {
        fc.pre(isPossible(change, document));
        const edited = applyEdits(document, [change]);
        const { bytes } = document;
        const { start, end, keyStart, keyEnd } = placeOf(change, document);
        const text = edited.bytes.toString('latin1');
        if (change.kind === 'set') expectSame(text, expectedBytes(bytes, start, end, change.json));
        else if (change.kind === 'rename') expectSame(text, expectedBytes(bytes, keyStart, keyEnd, '"new\\"0"'));
        else {
          const same = commonBytes(bytes, edited.bytes, false) + commonBytes(bytes, edited.bytes, true);
          expect(same).toBeGreaterThanOrEqual(Math.min(bytes.length, edited.bytes.length));
        }
        expectSame(scan(edited.bytes).value, edited.model.apply(document.value));
      }),
      { numRuns: EDITED_RUNS },
    );
  });

  it('applies several edits at once, or refuses those that overlap', () => {
    let appliedCount = 0;
    fc.assert(
      fc.property(editableDocuments, fc.array(edits, { minLength: 2, maxLength: 5 }), (document, changes) => {
        const possible = changes.filter((change) => isPossible(change, document));
        try {
          const edited = applyEdits(document, possible);
          expectSame(scan(edited.bytes).value, edited.model.apply(document.value));
          appliedCount++;
        } catch (error) {
          if (!(error instanceof JsonEditError)) throw error;
          expect(areNested(possible.map((change) => placeOf(change, document)))).toBe(true);
        }
      }),
      { numRuns: SEVERAL_EDITS_RUNS },
    );
    expect(appliedCount).toBeGreaterThan(SEVERAL_EDITS_RUNS / 4);
  });
});
