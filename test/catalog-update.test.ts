import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { compareCatalogs } from '../src/catalog/compare.ts';
import { loadCatalogInForce } from '../src/catalog/installed.ts';
import { hashRowPrices, loadCatalogFile } from '../src/catalog/load.ts';
import type { CatalogFile, ModelRow } from '../src/catalog/schema.ts';
import { EXIT } from '../src/cli/exit-codes.ts';
import { runCli } from '../src/cli/run.ts';
import { systemClock } from '../src/kit/clock.ts';
import { compose } from '../src/main/compose.ts';
import type { CliRun } from './cli-fixture.ts';

/** Price lists as they may come from elsewhere, good ones and hostile ones. */

const BUILT_IN = loadCatalogFile();
const FIRST = BUILT_IN.models[0]!;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-catalog-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function tollgate(...args: string[]): Promise<CliRun> {
  const [out, err]: string[][] = [[], []];
  const terminal = {
    writeOut: (text: string) => void out!.push(text),
    writeErr: (text: string) => void err!.push(text),
  };
  const env = { HOME: folder, TOLLGATE_DATA: join(folder, 'data'), TOLLGATE_LOCAL_HOSTS: 'false' };
  const code = await runCli(args, env, compose({ program: 'tollgate', terminal, cwd: folder, clock: systemClock }));
  return { code, out: out!.join(''), err: err!.join('') };
}

function withFirst(change: Partial<ModelRow>): CatalogFile {
  const models = [{ ...FIRST, ...change }, ...BUILT_IN.models.slice(1)];
  return { ...BUILT_IN, models, version: `${BUILT_IN.generated}-${hashRowPrices(models)}` };
}

function write(file: unknown): string {
  writeFileSync(join(folder, 'new.json'), JSON.stringify(file));
  return 'new.json';
}

const price = FIRST.price!;
const raised = withFirst({ price: { ...price, input: price.input + 1_000_000 } });

function expectNothingInstalled(): void {
  expect(existsSync(join(folder, 'data', 'catalog.json'))).toBe(false);
  expect(loadCatalogInForce(join(folder, 'data'))).toMatchObject({ origin: 'built-in' });
}

test('a data folder that cannot be written to is named, and is not a bug', async () => {
  writeFileSync(join(folder, 'data'), 'a file where the folder should be');
  const refused = await tollgate('catalog', 'update', write(raised));
  expect(refused.code).toBe(EXIT.unreachable);
  expect(refused.err).toMatch(/Cannot change .*catalog\.json \(E\w+\)\.\nTry: check the disk/);
});

test('an installed price list that cannot be read is named, and is not a bug', async () => {
  mkdirSync(join(folder, 'data', 'catalog.json'), { recursive: true });
  const refused = await tollgate('catalog', 'show');
  expect(refused).toMatchObject({ code: EXIT.usage, out: '' });
  expect(refused.err).toMatch(/Cannot read .*catalog\.json \(EISDIR\)\. Check its owner and permissions\./);
  const checked = await tollgate('config', 'check');
  expect(checked).toMatchObject({ code: EXIT.no, err: expect.stringMatching(/^Cannot read .*permissions\.\n$/) });
});

test('removing a price list says with --json whether there was one', async () => {
  await tollgate('catalog', 'update', write(raised));
  expect(JSON.parse((await tollgate('catalog', 'reset', '--json')).out)).toEqual({ removed: true });
  expect(JSON.parse((await tollgate('catalog', 'reset', '--json')).out)).toEqual({ removed: false });
});

describe('a new price list', () => {
  test('is shown by model and rate, installed, used, and removed again', async () => {
    const checked = await tollgate('catalog', 'check', write(raised));
    expect([checked.code, checked.out]).toEqual([EXIT.no, expect.stringContaining(`${FIRST.id}  changed  input`)]);
    expectNothingInstalled();
    expect(await tollgate('catalog', 'update', 'new.json')).toMatchObject({ code: EXIT.ok });
    expect(loadCatalogInForce(join(folder, 'data')).file).toEqual(raised);
    expect((await tollgate('catalog', 'show')).out).toContain('installed');
    expect(await tollgate('catalog', 'check', 'new.json')).toMatchObject({ code: EXIT.ok });
    expect(await tollgate('catalog', 'reset')).toMatchObject({ code: EXIT.ok });
    expectNothingInstalled();
  });

  test.each([
    ['a price of zero', { price: { ...price, output: 0 } }, 'output becomes 0'],
    ['a fall by more than half', { price: { ...price, input: Math.floor(price.input / 2) - 1 } }, 'less than half'],
    ['another host', { hosts: [...FIRST.hosts, { host: 'groq', model: 'x' }] }, 'calls may go to groq as x'],
    ['a cache rate that is nearly free', { price: { ...withoutCacheRates(), cache_read: 1 } }, 'cache_read falls'],
    ['a cheap tier', { price: { ...price, tiers: [{ ...price, above_input_tokens: 1, input: 1 }] } }, 'above 1 input'],
    ['a host that costs more', { hosts: [{ ...FIRST.hosts[0]!, price: doubled() }] }, 'callers of'],
    ['other names', { aliases: ['gpt-9'] }, 'its aliases change'],
    ['smaller holds', { max_output_tokens: 1 }, 'max_output_tokens changes what is held'],
    ['another name at a host', { hosts: [{ ...FIRST.hosts[0]!, model: 'cheap' }] }, 'as cheap'],
  ])('with %s changes nothing until its version is typed', async (_what, change, risk) => {
    const file = withFirst(change as Partial<ModelRow>);
    const refused = await tollgate('catalog', 'update', write(file));
    expect([refused.code, refused.err]).toEqual([EXIT.no, expect.stringContaining(risk)]);
    expect((await tollgate('catalog', 'update', 'new.json', '--confirm', 'yes')).code).toBe(EXIT.no);
    expectNothingInstalled();
    expect(await tollgate('catalog', 'update', 'new.json', '--confirm', file.version)).toMatchObject({ code: EXIT.ok });
    expect(loadCatalogInForce(join(folder, 'data')).origin).toBe('installed');
  });

  test.each([
    [
      'an address of a host',
      { ...raised, models: [{ ...FIRST, hosts: [{ ...FIRST.hosts[0], base_url: 'https://evil.example' }] }] },
    ],
    ['hosts of its own', { ...raised, hosts: [{ name: 'openai', base_url: 'https://evil.example' }] }],
    ['prices that its version does not name', { ...raised, version: BUILT_IN.version }],
    ['a negative price', withoutHash({ price: { ...price, input: -1 } })],
    ['the same name twice', { ...raised, models: [...raised.models, FIRST] }],
    ['no models at all', { version: 'x' }],
  ])('with %s is refused', async (_what, file) => {
    const refused = await tollgate('catalog', 'update', write(file), '--confirm', raised.version);
    expect([refused.code, refused.err]).toEqual([EXIT.no, expect.stringContaining('Nothing was changed.')]);
    expectNothingInstalled();
  });

  test.each([
    ['2020-01-01', 'is older than'],
    ['9999-12-31', 'is from the future'],
  ])('of %s is refused', async (generated, words) => {
    const { err, code } = await tollgate('catalog', 'update', write({ ...raised, generated }));
    expect([code, err]).toEqual([EXIT.no, expect.stringContaining(words)]);
    expectNothingInstalled();
  });

  test('that was damaged after it was installed is named, and can be removed', async () => {
    await tollgate('catalog', 'update', write(raised));
    writeFileSync(join(folder, 'data', 'catalog.json'), '{');
    writeFileSync(
      join(folder, 'tollgate.config.json'),
      JSON.stringify({ prices: { [FIRST.id]: { input: 1, output: 1 } } }),
    );
    const { code, err } = await tollgate('models');
    expect([code, err]).toEqual([EXIT.usage, expect.stringContaining('catalog reset')]);
    expect(await tollgate('catalog', 'reset')).toMatchObject({ code: EXIT.ok });
    expectNothingInstalled();
  });

  test('that is not JSON, or not there, is refused in one sentence', async () => {
    writeFileSync(join(folder, 'bad.json'), '{"version":');
    for (const [name, code] of [
      ['bad.json', EXIT.no],
      ['missing.json', EXIT.usage],
    ] as const)
      expect(await tollgate('catalog', 'update', name)).toMatchObject({ code, err: expect.stringMatching(/\.\n$/) });
    expectNothingInstalled();
  });

  test('whose prices were edited by hand is refused, with the place for own prices', async () => {
    const { code, err } = await tollgate('catalog', 'update', write({ ...raised, version: BUILT_IN.version }));
    expect([code, err]).toEqual([
      EXIT.no,
      expect.stringContaining('Set prices of your own with "prices" in the config'),
    ]);
    expectNothingInstalled();
  });

  test('with a signature is installed only if it fits', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    writeFileSync(join(folder, 'key.pem'), publicKey.export({ type: 'spki', format: 'pem' }));
    write(raised);
    const signature = sign(null, readFileSync(join(folder, 'new.json')), privateKey);
    const args = ['catalog', 'update', 'new.json', '--signature', 'new.sig', '--public-key', 'key.pem'];
    writeFileSync(join(folder, 'new.sig'), sign(null, Buffer.from('other'), privateKey));
    expect(await tollgate(...args)).toMatchObject({ code: EXIT.no, err: expect.stringContaining('does not match') });
    expectNothingInstalled();
    writeFileSync(join(folder, 'new.sig'), signature.toString('base64'));
    expect(await tollgate(...args)).toMatchObject({ code: EXIT.ok });
  });
});

describe('a price list behind a URL', () => {
  let server: Server;
  let url: string;
  let answer: { status: number; body: string };

  beforeEach(async () => {
    answer = { status: 200, body: JSON.stringify(raised) };
    server = createServer((_request, response) =>
      response.writeHead(answer.status, { location: '/' }).end(answer.body),
    );
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/catalog.json`;
  });
  afterEach(() => server.close());

  const digest = () => createHash('sha256').update(answer.body).digest('hex');

  test('needs a digest, and the right one', async () => {
    expect(await tollgate('catalog', 'update', url)).toMatchObject({ code: EXIT.usage });
    const wrong = await tollgate('catalog', 'update', url, '--sha256', '0'.repeat(64));
    expect(wrong).toMatchObject({ code: EXIT.no, err: expect.stringContaining('SHA-256') });
    expectNothingInstalled();
    expect(await tollgate('catalog', 'update', url, '--sha256', digest())).toMatchObject({ code: EXIT.ok });
    expect(loadCatalogInForce(join(folder, 'data')).file).toEqual(raised);
  });

  test('is not looked for elsewhere, and not read over plain http', async () => {
    answer = { status: 302, body: '' };
    expect((await tollgate('catalog', 'update', url, '--sha256', digest())).err).toContain('answered 302');
    const plain = await tollgate('catalog', 'update', 'http://prices.example/catalog.json', '--sha256', digest());
    expect(plain.err).toContain('must begin with https');
    expectNothingInstalled();
  });
});

test('a fall by more than half, or to zero, is a risk of every rate, and no other change of a rate is', () => {
  const rate = fc.integer({ min: 1, max: 1_000_000_000_000 });
  fc.assert(
    fc.property(
      rate,
      fc.nat(1_000_000_000_000),
      fc.constantFrom('output', 'cache_read', 'cache_write_1h'),
      (before, after, name) => {
        const priced = (value: number): CatalogFile => withFirst({ price: { ...price, [name]: value } });
        const risks = compareCatalogs(priced(before), priced(after)).flatMap((change) => change.risks);
        expect(risks.length > 0).toBe(before !== after && (after === 0 || after * 2 < before));
      },
    ),
    { numRuns: 50 },
  );
});

function withoutCacheRates() {
  return { input: price.input, output: price.output };
}

function doubled() {
  return { ...price, output: price.output * 2 };
}

function withoutHash(change: Partial<ModelRow>): unknown {
  return { ...BUILT_IN, models: [{ ...FIRST, ...change }, ...BUILT_IN.models.slice(1)] };
}
