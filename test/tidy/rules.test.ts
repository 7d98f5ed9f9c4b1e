import { describe, expect, test } from 'vitest';
import { missingFiles, unnamedFolders, withLayerTable } from './architecture-page.ts';
import { BANS } from './banned.ts';
import { namesOf, unusedExports } from './exports.ts';
import { circlesIn, importsOf } from './imports.ts';
import { layerOf, refusalOfImport } from './layers.ts';
import { phrasesIn } from './phrases.ts';
import { sourceFile } from './source-files.ts';
import { functionsOf, stringsOf, testsIn } from './syntax.ts';

/** Tests of the rules, on code that tries to get around them. */

const KNOWN = ['src/sim/main.ts', 'src/store/sqlite/writer.ts', 'src/http/server.ts'];

function longest(text: string): number {
  return Math.max(...functionsOf(sourceFile('src/a.ts', text)).map(({ lines }) => lines));
}

describe('the length of a function', () => {
  const body = 'f();\n'.repeat(8);

  test.each([
    ['a declaration', `function a() {\n${body}}`],
    ['an arrow function in a property', `const a = { b: async () => {\n${body}} };`],
    ['an arrow function without braces', `const a = () => [\n${'1,\n'.repeat(8)}];`],
    ['a method', `class A { b() {\n${body}} }`],
    ['a private generator', `class A { *#b() {\n${body}} }`],
    ['an accessor', `class A { get b() {\n${body}return 1; } }`],
    ['a constructor', `class A { constructor() {\n${body}} }`],
    ['a function in a class field', `class A { b = function () {\n${body}}; }`],
    ['a callback', `each((one) => {\n${body}});`],
    ['a default export', `export default function () {\n${body}}`],
  ])('is counted for %s', (_, text) => {
    expect(longest(text)).toBe(10);
  });

  test('is counted from the name of a method, with the lines of its parameters', () => {
    expect(longest(`class A {\n  b(\n    c: number,\n  ): void {\n${body}  }\n}`)).toBe(12);
  });

  test('does not count what only declares types', () => {
    expect(functionsOf(sourceFile('src/a.ts', 'declare function a(): void;\ninterface B { c(): void }'))).toEqual([]);
  });

  test('finds tests declared plainly, from a table and with a modifier', () => {
    const text = "describe('a', () => {});\ntest.each([])('b', () => {});\nit.skip('c', () => {});\nbest();";
    expect(testsIn(sourceFile('test/a.ts', text))).toHaveLength(4);
  });
});

describe('imports', () => {
  const from = (text: string) => importsOf(sourceFile('src/kit/a.ts', text), KNOWN);

  test.each([
    ['an import', "import { a } from '../http/server.ts';"],
    ['an import of types', "import type { A } from '../http/server.ts';"],
    ['an import for its effect', "import '../http/server.ts';"],
    ['a re-export', "export { a } from '../http/server.ts';"],
    ['a re-export of everything', "export * from '../http/server.ts';"],
    ['a dynamic import', "await import('../http/server.ts');"],
    ['a dynamic import by a template', 'await import(`../http/server.ts`);'],
    ['a dynamic import by a template with a gap', `await import(\`../http/\${'server'}.ts\`);`],
    ['the type of an import', "let a: typeof import('../http/server.ts');"],
    ['a type out of an import', "let a: import('../http/server.ts').A;"],
    ['an import by assignment', "import a = require('../http/server.ts');"],
    ['a require', "const a = require('../http/server.ts');"],
    ['a URL beside this file', "const a = new URL('../http/server.ts', import.meta.url);"],
    ['a resolved path', "const a = import.meta.resolve('../http/server.ts');"],
    ['a thread', "startThread(import.meta.url, '../http/server', {});"],
  ])('finds %s', (_, text) => {
    expect(from(text)).toEqual({ files: ['src/http/server.ts'], modules: [], unreadable: [] });
  });

  test('finds a file whose ending is chosen at run time', () => {
    const text = `new URL(\`../sim/main\${x ? '.ts' : '.js'}\`, import.meta.url)`;
    expect(from(text).files).toEqual(['src/sim/main.ts']);
  });

  test('reports an import whose target is in a variable', () => {
    expect(from('\nawait import(name);').unreadable).toEqual([2]);
  });

  test('does not take prose or strings for imports', () => {
    expect(from("// import '../http/server.ts'\nconst a = \"from '../http/server.ts'\";").files).toEqual([]);
  });

  test('lists packages and modules of Node apart', () => {
    expect(from("import { a } from 'node:fs';\nimport b from 'pino';").modules).toEqual(['node:fs', 'pino']);
  });

  test('finds the shortest circle, and none where there is none', () => {
    const graph = new Map([
      ['a', ['b', 'c']],
      ['b', ['d']],
      ['c', ['a']],
      ['d', ['a']],
    ]);
    expect(circlesIn(graph)).toEqual([
      ['a', 'c'],
      ['b', 'd', 'a'],
    ]);
    expect(
      circlesIn(
        new Map([
          ['a', ['b']],
          ['b', ['c']],
        ]),
      ),
    ).toEqual([]);
  });
});

describe('exports', () => {
  const unused = (user: string, text = 'export const a = 1;') =>
    unusedExports([sourceFile('src/kit/a.ts', text), sourceFile('src/b.ts', user)].map(namesOf));

  test.each([
    ['a value', 'export const a = 1;'],
    ['several values', 'export const { a } = b;'],
    ['a function', 'export function a() {}'],
    ['a class', 'export class a {}'],
    ['an interface', 'export interface a {}'],
    ['a type', 'export type a = 1;'],
    ['a name given to something else', 'const b = 1; export { b as a };'],
    ['something passed on', "export { a } from 'node:fs';"],
  ])('finds %s that no other file uses', (_, text) => {
    expect(unused('a();', text)).toEqual(['src/kit/a.ts a']);
  });

  test.each([
    ['imported', "import { a } from './kit/a.ts';"],
    ['imported under another name', "import { a as b } from './kit/a.ts';"],
    ['imported as a type', "import type { a } from './kit/a.ts';"],
    ['imported with everything else', "import * as b from './kit/a.ts';"],
    ['imported when it is needed', "const { a } = await import('./kit/a.ts');"],
    ['read as the type of a module', "let b: typeof import('./kit/a.ts');"],
    ['passed on with everything else', "export * from './kit/a.ts';"],
  ])('finds nothing that is %s', (_, user) => {
    expect(unused(user)).toEqual([]);
  });

  test('finds the file that passes something on for nobody', () => {
    expect(unused("export { a as b } from './kit/a.ts';")).toEqual(['src/b.ts b']);
  });
});

describe('layers', () => {
  test.each([
    ['src/kit/a.ts', 'src/json/b.ts', 'kit may not import json'],
    ['src/gateway/a.ts', 'src/http1/server/b.ts', 'gateway may not import http1'],
    ['src/gateway/a.ts', 'src/http1/headers.ts', null],
    ['src/gateway/a.ts', 'src/store/store.ts', null],
    ['src/gateway/a.ts', 'src/store/sqlite/sqlite-store.ts', 'gateway may not import store/<engine>'],
    ['src/gateway/a.ts', 'src/wires/registry.ts', null],
    ['src/gateway/a.ts', 'src/wires/prompt-texts.ts', null],
    ['src/gateway/a.ts', 'src/wires/chat/index.ts', 'gateway may not import wires/<wire>'],
    ['src/wires/chat/a.ts', 'src/wires/messages/b.ts', 'no wire imports another'],
    ['src/wires/chat/a.ts', 'src/wires/fields/b.ts', null],
    ['src/wires/fields/a.ts', 'src/wires/chat/b.ts', 'wires may not import wires/<wire>'],
    ['src/wires/chat/a.ts', 'src/wires/registry.ts', 'wires/<wire> may not import wires/registry.ts'],
    ['src/store/sqlite/a.ts', 'src/store/postgres/b.ts', 'no engine imports another'],
    ['src/store/sqlite/a.ts', 'src/store/rules/b.ts', null],
    ['src/hosts/a.ts', 'src/ledger/b.ts', 'hosts may not import ledger'],
    ['src/http/a.ts', 'src/cli/b.ts', 'http may not import cli'],
    ['src/sim/a.ts', 'src/wires/wire.ts', 'sim may not import wires'],
    ['src/main/a.ts', 'src/store/sqlite/b.ts', null],
    ['src/kit/a.ts', 'src/limits.ts', null],
    ['src/novel/a.ts', 'src/kit/b.ts', 'novel has no row in test/tidy/layers.ts'],
  ])('%s -> %s: %s', (from, to, refusal) => {
    expect(refusalOfImport(from, to)).toBe(refusal);
  });

  test('a file directly in src/ is a layer of its own', () => {
    expect(layerOf('src/limits.ts')).toBe('limits.ts');
  });
});

describe('what is banned', () => {
  const found = (text: string): string[] =>
    BANS.filter(({ find }) => find(sourceFile('src/a.ts', text)).length > 0).map(({ what }) => what);

  test.each([
    ['JSON.parse', "JSON.parse('1')"],
    ['JSON.parse', "JSON['parse']('1')"],
    ['JSON.parse', 'JSON[`parse`]'],
    ['JSON.parse', 'texts.map(JSON.parse)'],
    ['JSON.parse', 'globalThis.JSON.parse'],
    ['JSON.parse', 'const { parse } = JSON;'],
    ['JSON.parse', 'const json = JSON;'],
    ['JSON.parse', 'JSON[name]'],
    ['reading the time', 'Date.now()'],
    ['reading the time', 'new Date()'],
    ['reading the time', 'new Date'],
    ['reading the time', 'const { now } = Date;'],
    ['reading the time', 'performance.now()'],
    ['setTimeout or setInterval', 'setTimeout(f, 1)'],
    ['setTimeout or setInterval', 'globalThis.setInterval(f, 1)'],
    ['setTimeout or setInterval', "import { setTimeout as wait } from 'node:timers/promises';"],
    ['process.env', 'process.env.PORT'],
    ['process.env', 'const { env } = process;'],
    ['process.env', "import { env } from 'node:process';"],
    ['new Worker', "import { Worker as Thread } from 'node:worker_threads';"],
    ['new Worker', "import * as threads from 'node:worker_threads';"],
    ['mkdir', "import { mkdirSync } from 'node:fs';"],
    ['mkdir', "import { mkdir as make } from 'fs/promises';"],
    ['mkdir', "import * as fs from 'node:fs';"],
    ['console', "console.log('a')"],
    ['the type any', 'let a: Map<string, any>;'],
    ['the type any', 'const a = b as any;'],
    ['a comment that turns a check off', '// @ts-ignore\nf();'],
    ['a comment that turns a check off', '/* biome-ignore lint: no */ f();'],
    ['fetch or a web stream', 'fetch(url)'],
    ['fetch or a web stream', 'const send = fetch;'],
    ['fetch or a web stream', 'new ReadableStream()'],
    ['hold, settle or release of the ledger', 'gateway.ledger.hold(request)'],
    ['hold, settle or release of the ledger', 'this.#ledger.settle(id)'],
    ['hold, settle or release of the ledger', "ledger['release'](id)"],
    ['hold, settle or release of the ledger', 'const { hold } = gateway.ledger;'],
    ['hold, settle or release of the ledger', 'const take = ledger.hold.bind(ledger);'],
    ['reserve, start or releaseJob of the ledger', 'services.ledger.reserve(request)'],
    ['reserve, start or releaseJob of the ledger', 'const { start } = this.#ledger;'],
  ])('%s is found in: %s', (what, text) => {
    expect(found(text)).toEqual([what]);
  });

  test.each([
    ["const a = 'JSON.parse and setTimeout';"],
    ['// console.log, process.env, any'],
    ['JSON.stringify(a)'],
    ['new Date(0).toISOString()'],
    ['a instanceof Date'],
    ['let a: Date;'],
    ['this.fetch(url)'],
    ['const a = { fetch: 1, console: 2 };'],
    ['process.pid'],
    ["import type { Worker } from 'node:worker_threads';"],
    ["import { parentPort } from 'node:worker_threads';"],
    ["import { mkdtempSync } from 'node:fs';"],
    ['client.release()'],
    ['ledger.balance(id)'],
  ])('nothing is found in: %s', (text) => {
    expect(found(text)).toEqual([]);
  });

  test('strings are read with their templates and patterns, and without where files are imported from', () => {
    const text = `import a from './groq.ts';\n// openai\nf('x', \`y\${1}z\`, /w/);`;
    expect(stringsOf(sourceFile('src/a.ts', text))).toEqual(['x', 'y', 'z', 'w']);
  });
});

describe('the page on architecture', () => {
  const BEGIN = '<!-- layers: written by `npm run docs:architecture` from test/tidy/layers.ts -->';
  const page = (rows: string) => `Text.\n${BEGIN}\nearlier rows\n<!-- end of layers -->\n\n${rows}\n`;
  const known = ['src/kit', 'src/kit/clock.ts', 'src/json', 'src/json/json.ts', 'docs/api.md'];

  test('gets its table between the marks, and the rest stays unchanged', () => {
    const written = withLayerTable(page('After.'));
    expect(written.startsWith(`Text.\n${BEGIN}\n\n| layer |`)).toBe(true);
    expect(written.endsWith('|\n\n<!-- end of layers -->\n\nAfter.\n')).toBe(true);
    expect(written).not.toContain('earlier rows');
    expect(written).toContain('| `kit` | nothing |');
    expect(withLayerTable(written)).toBe(written);
    expect(() => withLayerTable('Text.')).toThrow('ARCHITECTURE.md needs the lines');
  });

  test('reports names of files that do not exist', () => {
    expect(
      missingFiles(page('| `src/kit/clock.ts`, `docs/api.md`, `src/kit/*.ts`, `clock.ts` | time |'), known),
    ).toEqual([]);
    expect(missingFiles(page('| `src/kit/clocks.ts` | `docs/ap.md`, `src/kit/a*.ts`, `watch.ts` |'), known)).toEqual([
      'src/kit/clocks.ts',
      'docs/ap.md',
      'src/kit/a*.ts',
      'watch.ts',
    ]);
    expect(missingFiles(page('| `src/kit/` | `clock` and `watch` |'), known)).toEqual(['watch']);
  });

  test('reports folders of src/ that it does not mention', () => {
    expect(unnamedFolders(page('| `src/kit/clock.ts` | time |'), known)).toEqual(['src/json']);
  });
});

describe('phrases', () => {
  test.each([
    ['A key that is none is told so first.', ['that is none', 'is told so']],
    ['This is no HTTP request that can be read.', ['This is no ']],
    ['Not an Error was thrown.', ['Not an Error was']],
    ['for who must seal every row anew', ['who must', 'for who', 'anew']],
    ['a thin door onto the ledger', ['door']],
    ['ends after so many bytes', ['so many']],
    ['There are only so many of them, or so many calls that most are refused.', []],
    ['An array that is no longer needed; there is none, and outdoors it is no one.', []],
    ['She is no operator any more, and webhooks are told.', ['is no operator any more', 'webhooks are told']],
    ['It passes the bytes that came, and adds to the sums of usage.', ['sums of usage', 'the bytes that came']],
    ['Malformed HTTP request.', []],
  ])('%s', (line, found) => {
    expect(phrasesIn('a', `\n${line}`).map((finding) => finding.found)).toEqual(found);
    expect(phrasesIn('a', `\n${line}`).every((finding) => finding.line === 2)).toBe(true);
  });
});
