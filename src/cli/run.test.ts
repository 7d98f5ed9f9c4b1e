import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CliFixture } from '../../test/cli-fixture.ts';
import { LIMITS } from '../limits.ts';
import { StoreUnavailable } from '../store/store.ts';
import { COMMANDS } from './all-commands.ts';
import { EXIT } from './exit-codes.ts';

let cli: CliFixture;
beforeEach(() => {
  cli = new CliFixture();
});
afterEach(() => cli.remove());

const MINT = ['keys', 'mint', '--account', 'ada'];

describe('exit codes', () => {
  test.each<[string, string[], number, string]>([
    ['an unknown command', ['acounts'], EXIT.usage, 'Did you mean accounts?'],
    ['options before a command', ['--json', 'models'], EXIT.usage, 'Write a command before its options.'],
    ['an unknown flag', ['models', '--jsno'], EXIT.usage, 'Did you mean --json?'],
    ['a missing argument', ['accounts', 'create'], EXIT.usage, "missing required argument 'name'"],
    ['an argument too many', ['ledger', 'verify', 'now'], EXIT.usage, 'too many arguments'],
    ['a bad amount', ['accounts', 'credit', 'ada', 'five'], EXIT.usage, 'must be an amount in dollars'],
    ['no amount', ['accounts', 'credit', 'ada'], EXIT.usage, 'The amount is missing'],
    ['two amounts', ['accounts', 'credit', 'ada', '5', '--nanousd', '5'], EXIT.usage, 'not both'],
    ['two formats', ['usage', '--csv', '--json'], EXIT.usage, 'Give --csv or --json, not both.'],
    [
      'a window without a cap',
      ['keys', 'mint', '--account', 'ada', '--window', 'day'],
      EXIT.usage,
      'tollgate keys mint --account ada --cap 10 --window day',
    ],
    [
      'a bad window',
      ['keys', 'mint', '--account', 'ada', '--window', 'year'],
      EXIT.usage,
      'lifetime, day, week, month',
    ],
    ['a bad date', ['keys', 'mint', '--account', 'ada', '--expires', '2027-02-31'], EXIT.usage, 'a date like'],
    ['an expiry in the past', [...MINT, '--expires', '2020-01-01'], EXIT.usage, '--expires must be in the future'],
    ['an expiry now', [...MINT, '--expires', '0d'], EXIT.usage, '--expires must be in the future'],
    ['an absurd expiry', [...MINT, '--expires', '999999w'], EXIT.usage, '--expires must be within'],
    ['an expiry that is not a date', [...MINT, '--expires', 'NaN'], EXIT.usage, '--expires must be a date like'],
    ['a negative cap', [...MINT, '--cap', '-1'], EXIT.usage, '--cap must be more than $0'],
    ['a cap of nothing', [...MINT, '--cap', '0'], EXIT.usage, '--cap must be more than $0'],
    ['a cap that is not a number', [...MINT, '--cap', 'NaN'], EXIT.usage, '--cap must be an amount in dollars'],
    ['an absurd cap', [...MINT, '--cap', '9999999999999'], EXIT.usage, '--cap must be at most $9223372036.854775807'],
    [
      'a negative cap in nanodollars',
      [...MINT, '--cap-nanousd', '-1'],
      EXIT.usage,
      '--cap-nanousd must be more than $0',
    ],
    [
      'an absurd cap in nanodollars',
      [...MINT, '--cap-nanousd', '9999999999999999999'],
      EXIT.usage,
      '--cap-nanousd must be more than $0 and at most',
    ],
    ['an unknown permission', [...MINT, '--allow', 'everything'], EXIT.usage, '--allow must name permissions'],
    ['no permission', [...MINT, '--allow', ' , '], EXIT.usage, '--allow names no permission'],
    ['an unknown choice', [...MINT, '--on-unsupported', 'no'], EXIT.usage, '--on-unsupported must be refuse or drop'],
    ['a bad setting', ['serve', '--port', 'http'], EXIT.usage, '--port: must be a whole number'],
    ['an unknown group', ['usage', '--by', 'planet'], EXIT.usage, '--by must be a list of account, key'],
    ['two labels', ['usage', '--by', 'label:a,label:b'], EXIT.usage, '--by may have the chain or one label'],
    ['no account', ['keys', 'mint'], EXIT.usage, 'tollgate accounts list'],
    ['an unknown account', ['balance', 'bob'], EXIT.no, 'There is no account "bob".\nTry: tollgate accounts list'],
    ['an unknown key', ['keys', 'revoke', 'key_0000000000000'], EXIT.no, 'tollgate keys list'],
    ['an unknown receipt', ['receipts', 'show', 'req_x'], EXIT.no, 'tollgate receipts list'],
    ['a model nobody serves', ['models', 'gpt-99'], EXIT.no, '0 models'],
    ['no books', ['accounts', 'list', '--data', 'nowhere'], EXIT.unreachable, 'There is no ledger in'],
  ])('%s', async (_, args, expected, words) => {
    const { code, out, err } = await cli.run(args);
    expect({ code, out }).toEqual({ code: expected, out: '' });
    expect(err).toContain(words);
  });

  test('a store that does not answer exits with 3, a bug with 70', async () => {
    vi.spyOn(cli.store, 'listAccounts').mockRejectedValueOnce(new StoreUnavailable('The disk is gone.'));
    expect(await cli.run(['accounts', 'list'])).toMatchObject({ code: EXIT.unreachable, err: 'The disk is gone.\n' });
    vi.spyOn(cli.store, 'listAccounts').mockRejectedValueOnce(new TypeError('a bug'));
    const failed = await cli.run(['accounts', 'list']);
    expect(failed).toMatchObject({ code: EXIT.internal, out: '' });
    expect(failed.err).toContain('a bug in Tollgate');
    expect(cli.closed).toBe(cli.opened);
  });

  test('an error is printed as JSON on stderr with --json', async () => {
    const { err } = await cli.run(['balance', 'bob', '--json']);
    expect(JSON.parse(err)).toEqual({
      error: { message: 'There is no account "bob".', hint: 'tollgate accounts list', exit_code: EXIT.no },
    });
  });
});

describe('accounts and keys', () => {
  test('an account is created, credited in dollars and nanodollars, debited, and listed in a table', async () => {
    expect(await cli.run(['accounts', 'create', 'ada'])).toMatchObject({
      code: 0,
      err: expect.stringContaining('credit ada'),
    });
    await cli.run(['accounts', 'credit', 'ada', '5.25', '--reference', 'r1', '--note', 'first']);
    await cli.run(['accounts', 'credit', 'ada', '--nanousd', '1']);
    await cli.run(['accounts', 'credit', 'ada', '-0.25']);
    const { out } = await cli.run(['accounts', 'list']);
    const [titles = '', row = ''] = out.split('\n');
    expect(titles).toMatch(/^ID +NAME +KIND +STATUS +BALANCE +HELD +SPENT/);
    expect(row).toMatch(/^acct_\w{13} +ada +prepaid +active +\$5\.000000001 +\$0\.00 +\$0\.00 +2026-11-15 12:00:00$/);
    expect(titles.indexOf('BALANCE') + 'BALANCE'.length).toBe(row.indexOf('$5.000000001') + '$5.000000001'.length);
    expect(await cli.json(['accounts', 'list'])).toMatchObject({
      data: [{ name: 'ada', balance_nanousd: 5_000_000_001 }],
    });
  });

  test('a credit whose answer was lost says so, and its hint repeats it without crediting twice', async () => {
    await cli.run(['accounts', 'create', 'Ada & Co']);
    const apply = cli.store.apply.bind(cli.store);
    vi.spyOn(cli.store, 'apply').mockImplementationOnce(async (operations) => {
      await apply(operations);
      throw new StoreUnavailable('The connection was lost.');
    });
    const lost = await cli.run(['accounts', 'credit', 'Ada & Co', '5.25', '--note', "Ada's"]);
    expect(lost).toMatchObject({ code: EXIT.unreachable, out: '' });
    expect(lost.err).toContain('It is unknown whether $5.25 was credited to "Ada & Co"');
    const [, reference] = /--reference (credit_\w+)/.exec(lost.err)!;
    expect(lost.err).toContain(
      `Try: tollgate accounts credit 'Ada & Co' 5.25 --reference ${reference} --note 'Ada'\\''s'\n`,
    );
    const again = await cli.json(['accounts', 'credit', 'Ada & Co', '5.25', '--reference', reference!]);
    expect(again).toMatchObject({ repeated: true, balance_nanousd: 5_250_000_000 });
  });

  test('a credit during which the server dies says the same', async () => {
    await cli.run(['accounts', 'create', 'ada']);
    const apply = cli.store.apply.bind(cli.store);
    vi.spyOn(cli.store, 'apply').mockImplementationOnce(async (operations) => {
      const outcomes = await apply(operations);
      cli.dropConnections();
      return outcomes;
    });
    await cli.startServer();
    const lost = await cli.run(['accounts', 'credit', 'ada', '5']);
    expect(lost.code).toBe(EXIT.unreachable);
    const [, reference] = /Try: tollgate accounts credit ada 5\.00 --reference (credit_\w+)\n/.exec(lost.err)!;
    const again = await cli.json(['accounts', 'credit', 'ada', '5', '--reference', reference!]);
    expect(again).toMatchObject({ repeated: true, balance_nanousd: 5_000_000_000 });
  });

  test('a reference that was credited before changes nothing and says so', async () => {
    await cli.run(['accounts', 'create', 'ada']);
    const credit = ['accounts', 'credit', 'ada', '5', '--reference', 'r1'];
    await cli.run(credit);
    const again = await cli.run(credit);
    expect(again).toMatchObject({ code: 0, err: expect.stringContaining('nothing was changed') });
    expect(again.out).toContain('$5.00');
  });

  test('a key is printed alone on stdout, its settings on stderr, and a list never shows it again', async () => {
    await cli.run(['accounts', 'create', 'ada']);
    const terms = [
      '--name',
      'ci',
      '--cap',
      '10',
      '--window',
      'month',
      '--expires',
      '30d',
      '--models',
      'sim-gpt,simgpt',
    ];
    const minted = await cli.run(['keys', 'mint', '--account', 'ada', ...terms]);
    expect(minted.out).toMatch(/^tg_live_\w{38}\n$/);
    for (const part of [
      '$10.00 per month',
      '2026-12-15 12:00:00 UTC',
      'not shown again',
      'check the spelling: simgpt',
    ]) {
      expect(minted.err).toContain(part);
    }
    const secret = minted.out.trim();
    const listed = await cli.run(['keys', 'list', '--account', 'ada']);
    expect(listed.out + listed.err + minted.err).not.toContain(secret);
    expect(listed.out).toContain(`${secret.slice(0, 12)}…${secret.slice(-4)}`);
  });

  test('a key is changed, loses its restrictions, and is revoked', async () => {
    await cli.run(['accounts', 'create', 'ada']);
    const minted = await cli.json(['keys', 'mint', '--account', 'ada', '--cap', '10', '--models', 'sim-gpt']);
    const id = String(minted.id);
    expect(await cli.json(['keys', 'update', id, '--cap-nanousd', '7', '--window', 'day'])).toMatchObject({
      spend_cap_nanousd: 7,
      window: 'day',
      models: ['sim-gpt'],
    });
    const free = await cli.json(['keys', 'update', id, '--cap', 'none', '--expires', 'never', '--models', 'all']);
    expect(free).toMatchObject({ spend_cap_nanousd: null, expires_at: null, models: null, window: 'day' });
    expect(await cli.json(['keys', 'update', id, '--window', 'lifetime'])).toMatchObject({ window: 'lifetime' });
    const uncapped = await cli.json(['keys', 'mint', '--account', 'ada', '--window', 'lifetime']);
    expect((await cli.run(['keys', 'revoke', String(uncapped.id)])).code).toBe(EXIT.ok);
    expect((await cli.run(['keys', 'revoke', id])).out).toContain('revoked 2026-11-15 12:00:00 UTC');
    expect(await cli.json(['keys', 'list'])).toMatchObject({ data: [{ status: 'revoked' }, { status: 'revoked' }] });
  });

  test('a long list is printed in pages, with a hint for the next one', async () => {
    for (const name of ['ada', 'bob', 'cy']) await cli.run(['accounts', 'create', name]);
    const first = await cli.run(['accounts', 'list', '--limit', '2']);
    const after = /--after (acct_\w+)/.exec(first.err)?.[1] ?? '';
    const rest = await cli.run(['accounts', 'list', '--limit', '2', '--after', after]);
    expect(rest.out).toContain('cy');
    expect(rest.out).not.toContain('bob');
    expect(rest.err).toBe('');
  });
});

describe('models, balance, ledger', () => {
  test('models are listed with prices per million tokens', async () => {
    const { out, err } = await cli.run(['models', 'mini']);
    expect(out).toMatch(/sim-gpt-mini +\d+ +\$\d+\.\d\d/);
    expect(err).toMatch(/^1 model, prices /);
    expect(out).not.toMatch(/^sim-gpt /m);
  });

  test('models creates no data folder', async () => {
    const folder = join(cli.folder, 'new');
    expect((await cli.run(['models', 'sim-gpt-mini', '--data', folder])).out).toContain('sim-gpt-mini');
    expect([existsSync(folder), cli.opened]).toEqual([false, 0]);
  });

  test('a balance includes the key’s spend and cap with --key', async () => {
    await cli.run(['accounts', 'create', 'ada']);
    const { id } = await cli.json(['keys', 'mint', '--account', 'ada', '--cap', '3']);
    const { out } = await cli.run(['balance', '--key', String(id)]);
    expect(out).toContain('ada (acct_');
    expect(out).toMatch(/key remaining +\$3\.00/);
  });
});

describe('while a server runs', () => {
  test('verbs go through its socket, and the answers are the same to the last digit', async () => {
    await cli.run(['accounts', 'create', 'ada']);
    await cli.run(['accounts', 'credit', 'ada', '--nanousd', '9007199254740993']);
    const alone = [await cli.run(['accounts', 'list']), await cli.run(['accounts', 'list', '--json'])];
    expect(alone[0]?.out).toContain('$9007199.254740993');
    expect(alone[1]?.out).toContain('"balance_nanousd":9007199254740993,');
    const openedBefore = cli.opened;
    await cli.startServer();
    expect([await cli.run(['accounts', 'list']), await cli.run(['accounts', 'list', '--json'])]).toEqual(alone);
    expect(cli.opened).toBe(openedBefore);
    expect(cli.closed).toBe(cli.opened);
  });

  test('its errors are the same as without a server', async () => {
    const alone = await cli.run(['balance', 'bob']);
    await cli.startServer();
    expect(await cli.run(['balance', 'bob'])).toEqual(alone);
  });

  test('waits for another command that has the data folder open for a moment', async () => {
    const busy = { heldBy: { pid: 1, url: null, socketPath: null, startedMs: 0 } };
    cli.held.push(busy, { heldBy: null }, busy);
    expect((await cli.run(['accounts', 'create', 'ada'])).code).toBe(EXIT.ok);
    expect(cli.opened).toBe(1);
  });

  test('opens the data folder itself if the server of the socket is gone', async () => {
    const gone = join(cli.folder, 'gone.sock');
    cli.held.push({ heldBy: { pid: 1, url: null, socketPath: gone, startedMs: 0 } });
    expect((await cli.run(['accounts', 'create', 'ada'])).code).toBe(EXIT.ok);
  });

  test('gives up on a data folder that another process keeps open without answering', async () => {
    const silent = { heldBy: { pid: 77, url: null, socketPath: null, startedMs: 0 } };
    cli.held.push(...Array.from({ length: LIMITS.folderAttemptsMax }, () => silent));
    const { code, err } = await cli.run(['accounts', 'list']);
    expect(code).toBe(EXIT.unreachable);
    expect(err).toContain('Process 77 has');
  });
});

describe('serve', () => {
  test('gets the settings of flags, environment and file', async () => {
    writeFileSync(join(cli.folder, 'tollgate.config.json'), '{"log_level":"warn"}');
    await cli.run(['serve', '--port', '9', '--no-sim', '--allowed-hosts', 'a,b'], { TOLLGATE_HOSTED: 'true' });
    expect(cli.served).toMatchObject([
      { listen: { port: 9 }, hosts: [], allowedHosts: ['a', 'b'], hosted: true, logLevel: 'warn' },
    ]);
    await cli.run(['serve'], { TOLLGATE_SIM: 'false' });
    expect(cli.served[1]?.hosts).toEqual([]);
  });

  test('is what runs without a command, even if there are flags', async () => {
    expect((await cli.run([])).code).toBe(EXIT.ok);
    await cli.run(['--port', '9']);
    expect(cli.served).toMatchObject([{ listen: { port: 8080 } }, { listen: { port: 9 } }]);
    expect(await cli.run(['--prot', '9'])).toMatchObject({
      code: EXIT.usage,
      err: expect.stringContaining('Did you mean --port?'),
    });
    expect((await cli.run(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(cli.served).toHaveLength(2);
  });

  test('does not start with invalid settings', async () => {
    writeFileSync(join(cli.folder, 'tollgate.config.json'), '{"log_levle":"warn"}');
    const { code, err } = await cli.run(['serve']);
    expect(code).toBe(EXIT.usage);
    expect(err).toContain('log_levle: is not a known field; did you mean "log_level"?');
    expect(cli.served).toEqual([]);
  });
});

test('docs/cli.md has a line for every command, and no other', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/cli.md'), 'utf8');
  const told = [...page.matchAll(/^\| `tollgate ((?:[a-z][a-z-]* ?)+)/gm)].map(([, name]) => name!.trim());
  const word = ({ name }: { name: string }) => name.split(' ', 1)[0]!;
  const names = COMMANDS.flatMap((command) =>
    'commands' in command ? command.commands.map((spec) => `${command.name} ${word(spec)}`) : [word(command)],
  );
  expect(told.toSorted()).toEqual(names.toSorted());
});

describe('a provider key that cannot be read', () => {
  const env = { OPENAI_API_KEY_FILE: '/nonexistent/key' };
  test('keeps the server from starting, but not the operator from revoking a key', async () => {
    await cli.run(['accounts', 'create', 'ada']);
    const { id } = await cli.json(['keys', 'mint', '--account', 'ada']);
    expect((await cli.run(['serve'], env)).code).toBe(EXIT.usage);
    expect((await cli.run(['keys', 'revoke', String(id)], env)).code).toBe(EXIT.ok);
  });
});

test('docs/cli.md gives the meaning of every exit code', () => {
  const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8');
  for (const code of Object.values(EXIT)) expect(page).toMatch(new RegExp(`^\\| ${code} \\|`, 'm'));
});
