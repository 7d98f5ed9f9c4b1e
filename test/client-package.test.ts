import { execFile, execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from './harness.ts';

/** The client as it is published: built, packed, put into an empty project, and run there. */

const ROOT = resolve(import.meta.dirname, '..');
const SOURCE = join(ROOT, 'packages', 'client');
const GZIPPED_BYTES_MAX = 12 * 1024;

const folder = mkdtempSync(join(tmpdir(), 'tollgate-package-'));
const project = join(folder, 'project');
const installed = join(project, 'node_modules', '@tollgate', 'client');
let harness: Harness;

beforeAll(async () => {
  const staged = join(folder, 'staged');
  const { scripts } = JSON.parse(readFileSync(join(SOURCE, 'package.json'), 'utf8'));
  for (const command of scripts.build.split(' && ')) {
    tsc(...command.split(' ').slice(1), '--outDir', join(staged, 'dist'));
  }
  copyFileSync(join(SOURCE, 'package.json'), join(staged, 'package.json'));
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: staged, stdio: 'pipe' });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'))!;
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, tarball), '-C', installed, '--strip-components=1']);
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  harness = await startHarness();
});
afterAll(async () => {
  await harness.stop();
  rmSync(folder, { recursive: true, force: true });
});

function tsc(...args: readonly string[]): void {
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
  execFileSync(process.execPath, [compiler, ...args], { cwd: SOURCE, stdio: 'pipe' });
}

const PROGRAM = `
import { createClient, fallback, usd } from '@tollgate/client';
const client = createClient({ baseURL: process.argv[2], maxCost: usd('0.05') });
const messages = [{ role: 'user', content: 'Hello' }];
const answer = await fallback(['sim-gpt-mini', 'sim-gpt'], (member) => client.chat({ model: member.model, messages }, member));
const stream = client.chat.stream({ model: 'sim-gpt', messages });
for await (const event of stream) if (typeof event.id !== 'string') throw new Error('not an event');
const receipt = await stream.receipt;
process.stdout.write(JSON.stringify({ model: answer.model, spent: String(answer.spent), receipt }));
`;

/** The version that runs the tests, and what the machine has besides. */
const NODES = [process.execPath, '/usr/bin/node', '/usr/local/bin/node'].filter(existsSync).filter(isNewEnough);

function isNewEnough(node: string): boolean {
  return Number(/^v(\d+)/.exec(execFileSync(node, ['--version'], { encoding: 'utf8' }))?.[1]) >= 20;
}

test.each(NODES)('runs in an empty project with %s', async (node) => {
  writeFileSync(join(project, 'program.js'), PROGRAM);
  const out = await run(node, [join(project, 'program.js'), harness.url]);
  const { model, spent, receipt } = JSON.parse(out);
  expect(model).toBe('sim-gpt-mini');
  expect(BigInt(spent)).toBeGreaterThan(0n);
  expect(receipt).toMatchObject({ state: 'settled', costNanousd: expect.stringMatching(/^[1-9]\d*$/) });
});

/** Not synchronously: the gateway runs in this process. */
async function run(node: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(node, [...args], { cwd: project });
  return stdout;
}

const CONSUMER = `
import { createClient, fallback, meteredFetch, type Receipt } from '@tollgate/client';
const client = createClient({ baseURL: 'http://127.0.0.1:8080' });
export async function ask(): Promise<bigint> {
  const answer = await fallback(['a', { model: 'b', maxCost: 1n }], (member) =>
    client.chat({ model: member.model, messages: [] }, member));
  const text: string | null = answer.data.choices[0]!.message.content;
  const receipt: Receipt = await client.receipt('req_1');
  for await (const chunk of client.chat.stream({ model: 'a', messages: [] })) chunk.choices[0]?.delta.content?.length;
  const { fetch, receipts, total } = meteredFetch();
  await fetch(text ?? '');
  return receipts.length === 0 ? total() : (receipt.costNanousd ?? answer.spent);
}
`;

test.each([
  { name: 'in Node', options: { types: ['node'], lib: ['es2022'], typeRoots: [join(ROOT, 'node_modules', '@types')] } },
  { name: 'in a browser', options: { types: [], lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'] } },
])('has types that hold under the strictest settings, $name', ({ options }) => {
  writeFileSync(join(project, 'consumer.ts'), CONSUMER);
  const compilerOptions = {
    ...{ module: 'nodenext', target: 'es2022', strict: true, noEmit: true, skipLibCheck: false },
    ...{ exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
    ...options,
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
  expect(() => tsc('-p', project)).not.toThrow();
});

test('has no dependency and no install script, and nothing but its build', () => {
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  expect(manifest).not.toHaveProperty('dependencies');
  expect(manifest).not.toHaveProperty('peerDependencies');
  expect(Object.keys(manifest.scripts).filter((name) => /install/.test(name))).toEqual([]);
  const files = readdirSync(installed, { recursive: true, encoding: 'utf8' });
  expect(files.filter((name) => !/^(package\.json|dist|dist\/[a-z-]+(\.d\.ts|\.js))$/.test(name))).toEqual([]);
});

test(`has at most ${GZIPPED_BYTES_MAX} bytes when gzipped`, () => {
  const dist = join(installed, 'dist');
  const scripts = readdirSync(dist).filter((name) => name.endsWith('.js'));
  const bytes = Buffer.concat(scripts.map((name) => readFileSync(join(dist, name))));
  expect(gzipSync(bytes).length).toBeLessThanOrEqual(GZIPPED_BYTES_MAX);
});

test('imports nothing of a platform, so that it runs in browsers too', () => {
  const dist = join(installed, 'dist');
  const scripts = readdirSync(dist).filter((name) => name.endsWith('.js'));
  const foreign = scripts.flatMap((name) => {
    const imports = readFileSync(join(dist, name), 'utf8').matchAll(/from '([^']+)'/g);
    return [...imports].map(([, from]) => from!).filter((from) => !/^\.\/[a-z-]+\.js$/.test(from));
  });
  expect(foreign).toEqual([]);
});
