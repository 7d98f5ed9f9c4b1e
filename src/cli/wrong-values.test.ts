import { afterEach, beforeEach, expect, test } from 'vitest';
import { CliFixture } from '../../test/cli-fixture.ts';
import { EXIT } from './exit-codes.ts';

const MINT = ['keys', 'mint', '--account', 'ada'];

let cli: CliFixture;
beforeEach(() => {
  cli = new CliFixture();
});
afterEach(() => cli.remove());

/** The operator's operations name the fields of their input; a command names the flags that were typed. */
test.each<[what: string, args: string[], words: string]>([
  ['a report that ends before it begins', ['usage', '--since', '1h', '--until', '9h'], '--since must be'],
  ['a page after nothing', ['accounts', 'list', '--after', 'x'], '--after must be an id, like acct_…'],
  ['an empty list of models', [...MINT, '--models', ''], '--models must be a list of at least 1'],
  ['an invalid model', [...MINT, '--models', 'a,b c'], '--models must be a name without spaces'],
  ['an empty name', [...MINT, '--name', ''], '--name must not be empty'],
  ['a name that is an argument', ['accounts', 'create', ''], 'name must not be empty'],
  ['a credit of nothing', ['accounts', 'credit', 'ada', '0'], 'The amount must be between -$9223372036'],
  [
    'an absurd credit',
    ['accounts', 'credit', 'ada', '--nanousd', '9999999999999999999'],
    '--nanousd must be between -$9223372036',
  ],
  [
    'an absurd debit',
    ['accounts', 'credit', 'ada', '-99999999999'],
    'The amount must be between -$9223372036.854775807 and $9223372036.854775807',
  ],
  ['a refund of nothing', ['receipts', 'refund', 'req_x', '--amount', '0'], '--amount must be more than $0'],
  [
    'a negative balance to alert at',
    ['alerts', 'settings', 'ada', '--balance-below', '-5'],
    '--balance-below must not be negative',
  ],
  [
    'a window without a cap',
    ['people', 'invite', 'ada@example.com', '--window', 'day'],
    '--window sets when a cap resets. Name --cap too.',
  ],
  [
    'a management key that lasts too long',
    ['management-keys', 'mint', '--expires', '1000d'],
    '--expires must be within 366 days, not "1000d". A management key always expires.',
  ],
  [
    'a management key that lasts for ever',
    ['management-keys', 'mint', '--expires', 'never'],
    '--expires must be within 366 days, not "never". A management key always expires.',
  ],
  [
    'a management key with the role of a member',
    ['management-keys', 'mint', '--account', 'ada', '--role', 'member'],
    '--role must be one of owner, viewer, not "member".',
  ],
  ['a catalog that is not there', ['catalog', 'check', 'none.json'], 'Cannot read none.json (ENOENT)'],
])('%s is a mistake of the command, which names the flag', async (_, args, words) => {
  const { code, out, err } = await cli.run(args);
  expect({ code, out }).toEqual({ code: EXIT.usage, out: '' });
  expect(err).toContain(words);
});
