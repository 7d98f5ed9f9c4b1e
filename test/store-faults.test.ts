import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { COMMANDS } from '../src/cli/all-commands.ts';
import { runCli } from '../src/cli/run.ts';
import { systemClock as clock } from '../src/kit/clock.ts';
import { compose } from '../src/main/compose.ts';
import { LossFolder } from './loss-folder.ts';

/** A data folder that cannot be used is the operator's to repair: one sentence and exit code 3, whatever the command. */

const data = new LossFolder();

/** Every command that opens the ledger, with what it needs to get that far. */
const OPENING: readonly (readonly string[])[] = [
  ['serve', '--port', '0'],
  ['accounts', 'create', 'ada'],
  ['accounts', 'list'],
  ['accounts', 'credit', 'ada', '5'],
  ['keys', 'mint', '--account', 'ada'],
  ['keys', 'list'],
  ['keys', 'show', 'key_1'],
  ['keys', 'rotate', 'key_1'],
  ['keys', 'disable', 'key_1'],
  ['keys', 'enable', 'key_1'],
  ['keys', 'update', 'key_1', '--name', 'x'],
  ['keys', 'revoke', 'key_1'],
  ['models'],
  ['balance', 'account-1'],
  ['accounts', 'entries', 'account-1'],
  ['accounts', 'show', 'account-1'],
  ['accounts', 'rename', 'account-1', 'account-2'],
  ['accounts', 'suspend', 'account-1'],
  ['accounts', 'resume', 'account-1'],
  ['accounts', 'close', 'account-1'],
  ['receipts', 'show', 'req_1'],
  ['receipts', 'list'],
  ['receipts', 'refund', 'req_1'],
  ['receipts', 'keys'],
  ['receipts', 'rotate-key'],
  ['ledger', 'verify'],
  ['store', 'backup', 'backup.sqlite'],
  ['store', 'accept-loss'],
  ['store', 'archive', '--before', '2020-01-01', '--to', 'archive'],
  ['store', 'compact'],
  ['seal', 'status'],
  ['seal', 'rotate'],
  ['people', 'invite', 'ada@example.com', '--operator'],
  ['people', 'cap', 'ada@example.com', '--account', 'acme', '--cap', '5'],
  ['people', 'reset', 'ada@example.com'],
  ['people', 'list'],
  ['people', 'show', 'ada@example.com'],
  ['people', 'sessions', 'ada@example.com'],
  ['people', 'sign-out', 'ada@example.com'],
  ['people', 'disable', 'ada@example.com'],
  ['people', 'enable', 'ada@example.com'],
  ['management-keys', 'mint'],
  ['management-keys', 'list'],
  ['management-keys', 'revoke', 'mgk_1'],
  ['alerts', 'list'],
  ['alerts', 'acknowledge', 'alert_1'],
  ['alerts', 'settings', 'account-1'],
  ['webhooks', 'add', 'pager', 'https://hooks.example.com/'],
  ['webhooks', 'list'],
  ['webhooks', 'show', 'pager'],
  ['webhooks', 'rotate', 'pager'],
  ['webhooks', 'test', 'pager'],
  ['webhooks', 'remove', 'pager'],
  ['jobs', 'resume', '--restored'],
  ['jobs', 'fail', '--restored'],
  ['audit', 'list'],
  ['usage'],
];
/** They do not open the ledger, or open PostgreSQL first, or report what they find instead of failing. */
const OTHERS = [
  'setup',
  'receipts verify',
  ...['jobs submit', 'jobs wait', 'jobs result', 'jobs list', 'jobs show', 'jobs cancel'],
  'store copy',
  'store check',
  'store migrate',
  'store restore',
  'doctor',
  'config check',
  'catalog show',
  'catalog check',
  'catalog update',
  'catalog reset',
];

test('every command is tried here or named as one that does not open the ledger', () => {
  const word = ({ name }: { name: string }): string => name.split(' ', 1)[0]!;
  const names = COMMANDS.flatMap((command) =>
    'commands' in command ? command.commands.map((spec) => `${command.name} ${word(spec)}`) : [word(command)],
  );
  const tried = (name: string): boolean => OPENING.some((args) => args.join(' ').startsWith(name));
  expect(names.filter((name) => !tried(name) && !OTHERS.includes(name))).toEqual([]);
});

async function run(args: readonly string[]): Promise<{ code: number; text: string }> {
  const text: string[] = [];
  const terminal = { writeOut: (out: string) => void text.push(out), writeErr: (out: string) => void text.push(out) };
  const env = { HOME: data.home, TOLLGATE_DATA: data.folder };
  const code = await runCli(args, env, compose({ program: 'tollgate', terminal, cwd: data.home, clock }));
  return { code, text: text.join('') };
}

describe.each([
  ['whose pages are noise', () => writeFileSync(data.database, noisy(readFileSync(data.database)))],
  ['that is text', () => writeFileSync(data.database, 'Dear friend, this is a letter. '.repeat(500))],
  [
    'that is a folder in a file',
    () => {
      rmSync(data.folder, { recursive: true });
      writeFileSync(data.folder, 'x');
    },
  ],
  [
    'that cannot be reached',
    () => {
      rmSync(data.folder, { recursive: true });
      symlinkSync(data.folder, data.folder);
    },
  ],
])('a ledger %s', (_, spoil) => {
  test('ends every command with one sentence and exit code 3', async () => {
    await data.killedAfter(2);
    await (await data.open()).close();
    spoil();
    for (const args of OPENING) {
      const { code, text } = await run(args);
      expect({ args, code, text }).toMatchObject({ args, code: 3 });
      expect(text).not.toMatch(/bug|\n\s+at /);
      expect(text).toMatch(/[Cc]annot|damaged|not a database|no ledger|missing/);
    }
    expect(await run(['doctor'])).toMatchObject({ code: 1, text: expect.not.stringContaining('bug') });
  });
});

test('a ledger without one of its tables ends commands with one sentence and exit code 3', async () => {
  await data.killedAfter(2);
  await (await data.open()).close();
  const whole = readFileSync(data.database);
  for (const table of tablesOf(data.database)) {
    writeFileSync(data.database, whole);
    dropTable(data.database, table);
    for (const args of READING) {
      const { code, text } = await run(args);
      expect({ table, args, code, text }).toMatchObject({ code: expect.toBeOneOf([0, 1, 3]) });
      expect(text).not.toMatch(/bug|\n\s+at /);
      if (code === 3) expect(text).toContain('damaged');
    }
  }
});

test('a mark that cannot be created ends the start of the server with one sentence on standard error', async () => {
  await data.killedAfter(2);
  rmSync(data.mark);
  mkdirSync(`${data.mark}.new`);
  for (const args of [
    ['serve', '--port', '0'],
    ['ledger', 'verify'],
  ]) {
    const { code, text } = await run(args);
    expect(code).toBe(3);
    expect(text.split('\n').filter((line) => !line.startsWith('There is no file'))).toEqual([
      expect.stringMatching(/^Cannot use .*tollgate\.mark\.new: it is a folder where a file should be \(EISDIR\)\.$/),
      '',
    ]);
  }
});

test('a missing folder ends commands that do not create one with exit code 3', async () => {
  for (const args of [
    ['accounts', 'list'],
    ['ledger', 'verify'],
    ['store', 'accept-loss'],
  ]) {
    expect(await run(args)).toMatchObject({ code: 3, text: expect.stringContaining(join(data.home, 'data')) });
  }
});

const READING: readonly (readonly string[])[] = [
  ['accounts', 'list'],
  ['ledger', 'verify'],
  ['audit', 'list'],
  ['usage'],
];

function tablesOf(file: string): string[] {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all();
  database.close();
  return rows.map(({ name }) => String(name));
}

function dropTable(file: string, table: string): void {
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  database.exec(`DROP TABLE "${table}"`);
  database.close();
}

test('a folder without a ledger is left as it is by commands that do not create one', async () => {
  mkdirSync(data.folder);
  writeFileSync(join(data.folder, 'letter.txt'), 'Dear friend');
  for (const args of [...READING, ['keys', 'mint', '--account', 'ada'], ['seal', 'status']])
    expect(await run(args)).toMatchObject({
      code: 3,
      text: expect.stringContaining(`There is no ledger in ${data.folder}`),
    });
  expect((await run(['doctor', '--offline', '--port', '0'])).text).toMatch(/^ledger +ok +none yet$/m);
  expect((await run(['models', 'sim-gpt-mini'])).code).toBe(0);
  expect(readdirSync(data.folder)).toEqual(['letter.txt']);
});

/** Everything but the first page, which says what the file is. */
function noisy(bytes: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 0xa5)]);
}
