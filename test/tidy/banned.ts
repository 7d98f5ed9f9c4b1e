import type { Node } from 'oxc-parser';
import { lineAt, type SourceFile } from './source-files.ts';
import { literalText, memberName, type Place, placesOf } from './syntax.ts';

/** Something that belongs in one place. */
interface Ban {
  readonly what: string;
  readonly instead: string;
  /** Where it may occur; an unneeded entry is a failure. */
  readonly homes: readonly string[];
  /** Lines on which the file has it. */
  find(file: SourceFile): number[];
}

/** HTTP itself, and the few calls that list a host's models before the gateway serves. */
const UNDICI_HOMES = [
  'src/hosts/check-keys.ts',
  'src/hosts/list-models.ts',
  'src/http1/download.ts',
  'src/http1/kept-connection.ts',
  'src/http1/proxy-agent.ts',
  'src/http1/request-through-proxy.ts',
  'src/http1/undici-client.ts',
];

const FILE_SYSTEM = /^(node:)?fs(\/promises)?$/;
const MKDIR = ['mkdir', 'mkdirSync'];

export const BANS: readonly Ban[] = [
  {
    what: 'JSON.parse',
    instead: 'parseJson or tryParseJson of json/json.ts',
    homes: ['src/json/json.ts'],
    find: (file) => linesWhere(file, (place) => usesMember(place, 'JSON', ['parse'])),
  },
  {
    what: 'reading the time',
    instead: 'a Clock',
    homes: ['src/kit/clock.ts'],
    find: (file) => linesWhere(file, (place) => usesMember(place, 'performance', ['now']) || readsDate(place)),
  },
  {
    what: 'setTimeout or setInterval',
    instead: "a Clock's after()",
    homes: ['src/kit/clock.ts'],
    find: (file) =>
      linesWhere(
        file,
        (place) => usesGlobal(place, ['setTimeout', 'setInterval']) || imports(place, /^(node:)?timers(\/|$)/),
      ),
  },
  {
    what: 'process.env',
    instead: 'the Config',
    homes: ['src/config/config.ts'],
    find: (file) =>
      linesWhere(file, (place) => usesMember(place, 'process', ['env']) || imports(place, /^(node:)?process$/)),
  },
  {
    what: 'new Worker',
    instead: 'startThread, which turns off what crashes V8',
    homes: ['src/kit/start-thread.ts'],
    find: (file) => linesWhere(file, ({ node }) => importsName(node, /^(node:)?worker_threads$/, 'Worker')),
  },
  {
    what: 'mkdir',
    instead: 'makeFolder, which also ends where the system makes no folders',
    homes: ['src/kit/make-folder.ts'],
    find: (file) => linesWhere(file, ({ node }) => MKDIR.some((name) => importsName(node, FILE_SYSTEM, name))),
  },
  {
    what: 'console',
    instead: 'the log, or the output the CLI is given',
    homes: [],
    find: (file) => linesWhere(file, (place) => usesGlobal(place, ['console']) || imports(place, /^(node:)?console$/)),
  },
  {
    what: 'the type any',
    instead: 'unknown, and a check',
    homes: [],
    find: (file) => linesWhere(file, ({ node }) => node.type === 'TSAnyKeyword'),
  },
  {
    what: 'a comment that turns a check off',
    instead: 'types that hold',
    homes: [],
    find: (file) =>
      file.comments
        .filter(({ value }) => /@ts-(ignore|expect-error|nocheck)|biome-ignore/.test(value))
        .map(({ start }) => lineAt(file, start)),
  },
  {
    what: 'fetch or a web stream',
    instead: 'a Sender of egress: web streams cost five times the CPU',
    homes: ['src/signin/bounded-fetch.ts'],
    find: (file) =>
      linesWhere(
        file,
        (place) =>
          usesGlobal(place, ['fetch', 'ReadableStream', 'WritableStream', 'TransformStream']) ||
          imports(place, /^(node:)?stream\/web$/),
      ),
  },
  {
    what: 'undici',
    instead: 'a Sender of egress: http1 is the one place to audit HTTP',
    homes: UNDICI_HOMES,
    find: (file) => linesWhere(file, (place) => imports(place, /^undici$|\/load-undici\.ts$/)),
  },
  {
    what: 'node:http',
    instead: 'kit/platform-http.ts, which loads faster',
    homes: [],
    find: (file) => linesWhere(file, (place) => imports(place, /^(node:)?https?$/)),
  },
  {
    what: 'code made from text',
    instead: 'a function',
    // Encoders of the batch buffer, compiled from a constant list of field names.
    homes: ['src/store/sqlite/compile-fields.ts'],
    find: (file) => linesWhere(file, (place) => usesGlobal(place, ['Function', 'eval'])),
  },
  {
    what: 'hold, settle or release of the ledger',
    instead: 'the exchange, which owns every hold',
    // An attempt of a job settles what it has started.
    homes: ['src/gateway/exchange.ts', 'src/jobs/attempt-ledger.ts'],
    find: (file) => linesWhere(file, ({ node }) => takesFromLedger(node, OWNED_BY_EXCHANGE)),
  },
  {
    what: 'reserve, start or releaseJob of the ledger',
    instead: 'the life of a job in src/jobs/',
    // An operator ends the jobs of a closed account or a revoked key, even while no server runs.
    homes: [
      'src/jobs/job.ts',
      'src/jobs/attempt-ledger.ts',
      'src/jobs/group-intake.ts',
      'src/operator/waiting-jobs.ts',
    ],
    find: (file) => linesWhere(file, ({ node }) => takesFromLedger(node, OWNED_BY_JOBS)),
  },
];

function linesWhere(file: SourceFile, matches: (place: Place) => boolean): number[] {
  return placesOf(file)
    .filter(matches)
    .map(({ node }) => lineAt(file, node.start));
}

/** `JSON.parse`, `JSON['parse']`, `const { parse } = JSON`, and `JSON` passed as a value, so that its use cannot be seen. */
function usesMember({ node, parent, key }: Place, global: string, members: readonly string[]): boolean {
  const isGlobal =
    (node.type === 'Identifier' && node.name === global && isReference(parent, key)) || isMemberOfGlobal(node, global);
  if (!isGlobal || parent === null) return false;
  if (parent.type === 'MemberExpression' && key === 'object') {
    const name = memberName(parent);
    return name === null || members.includes(name);
  }
  if (parent.type === 'VariableDeclarator' && parent.id.type === 'ObjectPattern')
    return parent.id.properties.some(
      (property) => property.type === 'RestElement' || members.includes(keyOf(property)),
    );
  return parent.type !== 'BinaryExpression' && parent.type !== 'UnaryExpression';
}

function keyOf({ key, computed }: Extract<Node, { type: 'Property' }>): string {
  if (!computed && key.type === 'Identifier') return key.name;
  return literalText(key) ?? '';
}

/** The name itself, wherever it is not the name of something else; or the member of `globalThis`. */
function usesGlobal({ node, parent, key }: Place, names: readonly string[]): boolean {
  if (node.type === 'Identifier') return names.includes(node.name) && isReference(parent, key);
  return names.some((name) => isMemberOfGlobal(node, name));
}

function isMemberOfGlobal(node: Node, name: string): boolean {
  if (node.type !== 'MemberExpression' || memberName(node) !== name) return false;
  return node.object.type === 'Identifier' && (node.object.name === 'globalThis' || node.object.name === 'global');
}

/** Whether an identifier stands for a value, not for the name of a member, of an import or of a type. */
function isReference(parent: Node | null, key: string): boolean {
  if (parent === null || parent.type.startsWith('TS')) return false;
  if (parent.type.endsWith('Specifier')) return false;
  const isName = key === 'property' || key === 'key' || (key === 'id' && parent.type !== 'VariableDeclarator');
  return !isName || ('computed' in parent && parent.computed);
}

function readsDate(place: Place): boolean {
  const { node } = place;
  const isDate = (callee: Node): boolean => callee.type === 'Identifier' && callee.name === 'Date';
  if (node.type === 'NewExpression') return isDate(node.callee) && node.arguments.length === 0;
  if (node.type === 'CallExpression') return isDate(node.callee);
  if (place.parent?.type === 'NewExpression' && place.key === 'callee') return false;
  return usesMember(place, 'Date', ['now']);
}

function imports({ node }: Place, module: RegExp): boolean {
  if (node.type === 'ImportDeclaration') return node.importKind !== 'type' && module.test(node.source.value);
  return node.type === 'ImportExpression' && module.test(literalText(node.source) ?? '');
}

/** Also by the whole module, from which the name could be read later. */
function importsName(node: Node, module: RegExp, name: string): boolean {
  if (node.type === 'ImportExpression') return module.test(literalText(node.source) ?? '');
  if (node.type !== 'ImportDeclaration' || node.importKind === 'type' || !module.test(node.source.value)) return false;
  return node.specifiers.some(
    (specifier) =>
      specifier.type !== 'ImportSpecifier' ||
      (specifier.importKind !== 'type' && specifier.imported.type === 'Identifier' && specifier.imported.name === name),
  );
}

const OWNED_BY_EXCHANGE = ['hold', 'settle', 'release'];

const OWNED_BY_JOBS = ['reserve', 'start', 'releaseJob'];

function takesFromLedger(node: Node, names: readonly string[]): boolean {
  if (node.type === 'MemberExpression') return isLedger(node.object) && names.includes(memberName(node) ?? '');
  if (node.type !== 'VariableDeclarator' || node.init === null || node.id.type !== 'ObjectPattern') return false;
  if (!isLedger(node.init)) return false;
  return node.id.properties.some((property) => property.type === 'Property' && names.includes(keyOf(property)));
}

function isLedger(node: Node): boolean {
  const name = node.type === 'Identifier' ? node.name : memberName(node);
  return name !== null && /^ledger$/i.test(name);
}
