import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { COMMANDS } from '../src/cli/all-commands.ts';
import { EXIT } from '../src/cli/exit-codes.ts';
import { runCli } from '../src/cli/run.ts';
import { type Environment, loadConfig } from '../src/config/config.ts';
import { systemClock } from '../src/kit/clock.ts';
import { createLog } from '../src/kit/log.ts';
import { compose } from '../src/main/compose.ts';
import { startGateway } from '../src/main/start.ts';
import { lockFolder } from '../src/store/sqlite/lock.ts';
import type { CliRun } from './cli-fixture.ts';
import { blocksOf } from './doc-blocks.ts';
import { copyEmptyLedger } from './ledger-template.ts';
import { freshSchema } from './postgres.ts';

/** Every config file that the documentation shows, used with every command, as a reader would who copied it. */

const DOCS = resolve(import.meta.dirname, '..', 'docs');

interface Example {
  readonly name: string;
  readonly text: string;
}

function examplesOf(page: string): Example[] {
  return blocksOf(`docs/${page}`)
    .filter(({ language, mark }) => language === 'json' && mark === 'config')
    .map(({ text }, at) => ({ name: `docs/${page} example ${at + 1}`, text }));
}

const EXAMPLES = readdirSync(DOCS)
  .filter((page) => page.endsWith('.md'))
  .flatMap(examplesOf);

/** Arguments with which each command succeeds, in this order, on a ledger that has no account yet. */
const RUNS: readonly (readonly string[])[] = [
  ['accounts', 'create', 'ada'],
  ['accounts', 'credit', 'ada', '5'],
  ['accounts', 'list'],
  ['accounts', 'entries', 'ada'],
  ['accounts', 'show', 'ada'],
  ['accounts', 'rename', 'ada', 'ada'],
  ['accounts', 'suspend', 'ada'],
  ['accounts', 'resume', 'ada'],
  ['accounts', 'create', 'bob'],
  ['accounts', 'close', 'bob', '--wait', '0'],
  ['keys', 'mint', '--account', 'ada'],
  ['keys', 'list'],
  ['balance', 'ada'],
  ['receipts', 'list'],
  ['people', 'invite', 'ada@example.com', '--operator'],
  ['people', 'list'],
  ['management-keys', 'mint', '--expires', '1d'],
  ['management-keys', 'list'],
  ['alerts', 'list'],
  ['alerts', 'settings', 'ada', '--balance-below', '5'],
  ['webhooks', 'list'],
  ['jobs', 'resume', '--restored'],
  ['jobs', 'fail', '--restored'],
  ['audit', 'list'],
  ['ledger', 'verify'],
  ['receipts', 'keys'],
  ['receipts', 'rotate-key', '--now'],
  ['seal', 'status'],
  ['seal', 'rotate'],
  ['usage', '--by', 'key,model', '--bucket', 'day'],
];

/** Commands that read the provider keys, which an example may name and the reader may not have set. */
const RUNS_WITH_KEYS: readonly (readonly string[])[] = [
  ['models'],
  ['keys', 'mint', '--account', 'ada', '--models', 'sim-gpt'],
  ['doctor', '--offline', '--port', '0'],
  ['config', 'check'],
  ['catalog', 'show'],
  ['catalog', 'reset'],
];

/** Commands that need an id of an earlier answer, or a store of one kind, or write elsewhere; each has tests of its own. */
const ELSEWHERE = [
  'serve',
  'setup',
  ...['catalog check', 'catalog update'],
  ...['keys show', 'keys update', 'keys rotate', 'keys disable', 'keys enable', 'keys revoke'],
  ...['receipts show', 'receipts refund', 'receipts verify'],
  'management-keys revoke',
  ...[
    'people show',
    'people cap',
    'people disable',
    'people enable',
    'people reset',
    'people sessions',
    'people sign-out',
  ],
  'alerts acknowledge',
  ...['webhooks add', 'webhooks show', 'webhooks rotate', 'webhooks test', 'webhooks remove'],
  ...['jobs submit', 'jobs wait', 'jobs result', 'jobs list', 'jobs show', 'jobs cancel'],
  'store check',
  'store migrate',
  'store backup',
  'store archive',
];
const ONLY_FOLDERS = ['store restore', 'store accept-loss', 'store copy', 'store compact'];

test('every command is run here, or named as run elsewhere', () => {
  const word = ({ name }: { name: string }): string => name.split(' ', 1)[0]!;
  const names = COMMANDS.flatMap((command) =>
    'commands' in command ? command.commands.map((spec) => `${command.name} ${word(spec)}`) : [word(command)],
  );
  const run = [...RUNS, ...RUNS_WITH_KEYS].map((args) => args.slice(0, 2).join(' '));
  const isCovered = (name: string): boolean =>
    [...ELSEWHERE, ...ONLY_FOLDERS].includes(name) || run.some((args) => args === name || args.startsWith(`${name} `));
  expect(names.filter((name) => !isCovered(name))).toEqual([]);
});

const KEYS = {
  OPENAI_API_KEY: 'sk-test',
  AZURE_OPENAI_API_KEY: 'test',
  AZURE_OPENAI_ENDPOINT: 'https://resource.example/openai/v1',
  EXAMPLE_KEY: 'test',
  FIRST_KEY: 'test',
  MY_HOST_KEY: 'test',
  SECOND_KEY: 'test',
};

let folder: string;
let env: Environment;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-examples-'));
  mkdirSync(join(folder, 'data'), { mode: 0o700 });
  env = { HOME: folder, TOLLGATE_DATA: join(folder, 'data'), TOLLGATE_LOCAL_HOSTS: 'false' };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function tollgate(args: readonly string[]): Promise<CliRun> {
  const out: string[] = [];
  const err: string[] = [];
  const terminal = { writeOut: (text: string) => void out.push(text), writeErr: (text: string) => void err.push(text) };
  const code = await runCli(args, env, compose({ program: 'tollgate', terminal, cwd: folder, clock: systemClock }));
  return { code, out: out.join(''), err: err.join('') };
}

async function startServer(): Promise<{ stop(): Promise<void> }> {
  const config = loadConfig({ argvFlags: { port: '0', sim: false }, env, cwd: folder });
  return startGateway({
    config,
    hosts: config.hosts,
    clock: systemClock,
    log: createLog({ level: 'silent', destination: { write: () => undefined } }),
    onFatal: (error) => {
      throw error;
    },
  });
}

async function runAll(hasKeys: boolean): Promise<void> {
  for (const args of RUNS) {
    const { code, err } = await tollgate(args);
    expect({ args, code, err: code === EXIT.ok ? '' : err }).toEqual({ args, code: EXIT.ok, err: '' });
  }
  for (const args of RUNS_WITH_KEYS) {
    const { code, err } = await tollgate(args);
    const allowed = hasKeys ? [EXIT.ok] : [EXIT.ok, EXIT.no, EXIT.usage];
    expect({ args, code, err, allowed: allowed.includes(code as 0) }).toMatchObject({ args, allowed: true });
  }
}

/** A command that left the folder locked would keep every later one waiting. */
function expectFolderFree(): void {
  const lock = lockFolder(join(folder, 'data'), { pid: 1, url: null, socketPath: null, startedMs: 0 });
  expect(lock).not.toHaveProperty('heldBy');
  if ('release' in lock) lock.release();
}

/** Where the ledger is does not depend on the rest of a config, so on PostgreSQL the example with the most settings is enough. */
const LONGEST = EXAMPLES.reduce((one, other) => (other.text.length > one.text.length ? other : one));
const ENGINES = [
  { engine: 'SQLite', examples: EXAMPLES },
  { engine: 'PostgreSQL', examples: [LONGEST] },
];

describe.each(ENGINES)('on $engine', ({ engine, examples }) => {
  beforeEach(async () => {
    if (engine === 'PostgreSQL') env = { ...env, TOLLGATE_STORE: await freshSchema() };
  });

  describe.each(examples)('$name', ({ text }) => {
    beforeEach(() => writeFileSync(join(folder, 'tollgate.config.json'), text));
    const haveLedger = () => (engine === 'SQLite' ? copyEmptyLedger(join(folder, 'data')) : null);

    test('every command works without provider keys, or names the missing one', async () => {
      await runAll(false);
      expectFolderFree();
    });

    test('every command works with provider keys', async () => {
      await haveLedger();
      env = { ...env, ...KEYS };
      await runAll(true);
      expectFolderFree();
    });

    test('every command works while a server runs', async () => {
      await haveLedger();
      env = { ...env, ...KEYS };
      const server = await startServer();
      try {
        await runAll(true);
      } finally {
        await server.stop();
      }
      expectFolderFree();
    });
  });
});
