import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { installPackage, type PackageName, placeOf, tsc } from './client-build.ts';
import { type Harness, startHarness } from './harness.ts';

/** The packages as they are published: built, packed, put into an empty project, and run there. */

const MODULES = resolve(import.meta.dirname, '..', 'node_modules');
/** The largest size of the client together with the check of signed receipts. */
const GZIPPED_BYTES_MAX = 12 * 1024;
/** The largest size of the client together with the calls for webhooks, which few programs make. */
const WEBHOOKS_GZIPPED_BYTES_MAX = 10.75 * 1024;
/** The largest size of the check of signed receipts, which has an entry of its own so that others do not load it. */
const VERIFY_GZIPPED_BYTES_MAX = 2.5 * 1024;

const folder = mkdtempSync(join(tmpdir(), 'tollgate-package-'));
const project = join(folder, 'project');
const client = placeOf(project, 'client');
const tarballs = new Map<PackageName, string>();
let harness: Harness;

beforeAll(async () => {
  for (const name of ['client', 'ai-sdk'] as const) tarballs.set(name, installPackage(name, { folder, project }));
  // What the provider depends on is copied from the clone instead of downloaded.
  for (const name of ['@ai-sdk', 'ai']) symlinkSync(join(MODULES, name), join(project, 'node_modules', name));
  writeFileSync(join(project, 'package.json'), '{"type":"module"}');
  harness = await startHarness();
});
afterAll(async () => {
  await harness.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The version that runs the tests, and what the machine has besides. */
const NODES = [process.execPath, '/usr/bin/node', '/usr/local/bin/node'].filter(existsSync).filter(isNewEnough);

function isNewEnough(node: string): boolean {
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(execFileSync(node, ['--version'], { encoding: 'utf8' })) ?? [];
  return Number(major) > 20 || (Number(major) === 20 && Number(minor) >= 3);
}

/** Not synchronously: the gateway runs in this process. */
async function run(program: string, node = process.execPath): Promise<string> {
  writeFileSync(join(project, 'program.js'), program);
  const { stdout } = await promisify(execFile)(node, ['program.js', harness.url], { cwd: project });
  return stdout;
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

const CONSUMER = `
import { createClient, fallback, meteredFetch, type Receipt } from '@tollgate/client';
import { verifyReceipt } from '@tollgate/client/verify';
import { createWebhooks } from '@tollgate/client/webhooks';
// What is read from the environment or passed on may be undefined.
declare const given: { apiKey: string | undefined; maxCost: bigint | undefined; signal: AbortSignal | undefined };
const { maxCost, signal } = given;
const client = createClient({ ...given, baseURL: 'http://127.0.0.1:8080', retries: undefined, fetch: undefined, headers: undefined });
meteredFetch({ fetch: undefined, onReceipt: undefined });
void fallback([{ model: 'a', maxCost }], () => null, { budget: maxCost, signal, chain: undefined, onAttempt: undefined, fetch: undefined });
void client.jobs.get('job_1', { waitSeconds: undefined, signal, maxCost });
void createWebhooks({ baseURL: 'http://127.0.0.1:8080' }).put('jobs', { url: 'https://hooks.example.com', events: undefined });
export async function rotated(): Promise<[string, number | null, string | null]> {
  const webhooks = createWebhooks({ baseURL: 'http://127.0.0.1:8080' });
  const { http_status, error } = await webhooks.test('jobs');
  return [(await webhooks.rotate('jobs')).secret, http_status, error];
}
export async function statuses(): Promise<number[]> {
  const found: number[] = [];
  for await (const { response } of client.jobs.groupResults('grp_1', { after: undefined, signal })) found.push(response?.status_code ?? 0);
  await verifyReceipt(await client.signedReceipt('req_1', { proof: undefined }), await client.receiptKeys());
  return found;
}
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

describe('the client', () => {
  test.each(NODES)('runs in an empty project with %s', async (node) => {
    const { model, spent, receipt } = JSON.parse(await run(PROGRAM, node));
    expect(model).toBe('sim-gpt-mini');
    expect(BigInt(spent)).toBeGreaterThan(0n);
    expect(receipt).toMatchObject({ state: 'settled', costNanousd: expect.stringMatching(/^[1-9]\d*$/) });
  });

  test.each([
    { name: 'in Node', options: { types: ['node'], lib: ['es2022'], typeRoots: [join(MODULES, '@types')] } },
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

  test('has no dependency', () => {
    const manifest = JSON.parse(readFileSync(join(client, 'package.json'), 'utf8'));
    expect(manifest).not.toHaveProperty('dependencies');
    expect(manifest).not.toHaveProperty('peerDependencies');
  });

  const scripts = () => readdirSync(join(client, 'dist')).filter((name) => name.endsWith('.js'));

  /** The scripts that importing one of them loads. */
  const loadedBy = (name: string, known = new Set<string>()): Set<string> => {
    if (known.has(name)) return known;
    known.add(name);
    const imports = readFileSync(join(client, 'dist', name), 'utf8').matchAll(/from '\.\/([^']+)'/g);
    for (const [, from] of imports) loadedBy(from!, known);
    return known;
  };

  test.each([
    { entries: ['index.js', 'verify.js'], bytesMax: GZIPPED_BYTES_MAX },
    { entries: ['verify.js'], bytesMax: VERIFY_GZIPPED_BYTES_MAX },
    { entries: ['index.js', 'webhooks.js'], bytesMax: WEBHOOKS_GZIPPED_BYTES_MAX },
  ])('loads at most $bytesMax bytes with $entries when gzipped', ({ entries, bytesMax }) => {
    const loaded = new Set(entries.flatMap((entry) => [...loadedBy(entry)]));
    const bytes = Buffer.concat([...loaded].map((name) => readFileSync(join(client, 'dist', name))));
    expect(gzipSync(bytes).length).toBeLessThanOrEqual(bytesMax);
  });

  test('has no script that no entry loads', () => {
    const loaded = new Set(['index.js', 'verify.js', 'webhooks.js'].flatMap((entry) => [...loadedBy(entry)]));
    // It has types only.
    expect(scripts().filter((name) => !loaded.has(name))).toEqual(['types.js']);
  });

  test('imports nothing of a platform, so that it runs in browsers too', () => {
    const foreign = scripts().flatMap((name) => {
      const imports = readFileSync(join(client, 'dist', name), 'utf8').matchAll(/from '([^']+)'/g);
      return [...imports].map(([, from]) => from!).filter((from) => !/^\.\/[a-z-]+\.js$/.test(from));
    });
    expect(foreign).toEqual([]);
  });
});

const PROVIDER_PROGRAM = `
import { createTollgate } from '@tollgate/ai-sdk';
import { generateText } from 'ai';
const tollgate = createTollgate({ baseURL: process.argv[2] });
const model = tollgate.fallbackModel(['sim-gpt-mini', 'sim-gpt'], { budget: 50000000n });
const { providerMetadata } = await generateText({ model, prompt: 'Hello' });
process.stdout.write(JSON.stringify(providerMetadata.tollgate));
`;

test('the provider for the AI SDK runs in a project that has it and the client', async () => {
  expect(JSON.parse(await run(PROVIDER_PROGRAM))).toMatchObject({
    effectiveModel: 'sim-gpt-mini',
    spentNanousd: expect.stringMatching(/^[1-9]\d*$/),
  });
});

test.each<PackageName>(['client', 'ai-sdk'])('%s has no install script, and nothing but its build', (name) => {
  const manifest = JSON.parse(readFileSync(join(placeOf(project, name), 'package.json'), 'utf8'));
  expect(Object.keys(manifest.scripts).filter((script) => /install/.test(script))).toEqual([]);
  const files = readdirSync(placeOf(project, name), { recursive: true, encoding: 'utf8' });
  expect(files.filter((file) => !/^(package\.json|README\.md|dist|dist\/[a-z-]+(\.d\.ts|\.js))$/.test(file))).toEqual(
    [],
  );
});

test.each<PackageName>(['client', 'ai-sdk'])('publint finds nothing wrong with %s', async (name) => {
  const { messages } = await publint({ pkgDir: placeOf(project, name), pack: false, strict: true });
  expect(messages).toEqual([]);
});

/** Packages of ES modules only: older ways of finding a module, and `require` in old versions of Node, are not theirs. */
const NOT_OURS = ['node10', 'node16-cjs'];

test.each<PackageName>(['client', 'ai-sdk'])(
  'the types of %s are those of its code, however it is imported',
  async (name) => {
    const tarball = createPackageFromTarballData(new Uint8Array(readFileSync(tarballs.get(name)!)));
    const analysis = await checkPackage(tarball);
    if (analysis.types === false) throw new Error('The package has no types.');
    const isOurs = (problem: object): boolean =>
      !('resolutionKind' in problem && NOT_OURS.includes(String(problem.resolutionKind)));
    expect(analysis.problems.filter(isOurs)).toEqual([]);
  },
);
