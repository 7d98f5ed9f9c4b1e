import { afterEach, beforeEach, expect, test } from 'vitest';
import { CliFixture } from '../../test/cli-fixture.ts';
import { type OperatorServices, runVerb } from './operator.ts';

let fixture: CliFixture;
let services: OperatorServices;

beforeEach(async () => {
  fixture = new CliFixture();
  services = await fixture.services();
  await run('accounts.create', { name: 'ada' });
});
afterEach(() => fixture.remove());

function run(verb: string, input: object): Promise<object> {
  return runVerb(services, verb, input);
}

test.each(['a\0b', 'a\ud800b', '\udc00'])(
  'a reference or a note like %j is refused, because it could not be told from others',
  async (text) => {
    const credit = { account: 'ada', amount_nanousd: 5 };
    await expect(run('accounts.credit', { ...credit, reference: text })).rejects.toThrow('reference must not contain');
    await expect(run('accounts.credit', { ...credit, note: text })).rejects.toThrow('note must not contain');
    await expect(run('accounts.close', { account: 'ada', note: text })).rejects.toThrow('note must not contain');
    await expect(run('receipts.refund', { receipt: 'req_x', reference: text })).rejects.toThrow('reference must not');
    await expect(run('receipts.list', { host: text })).rejects.toThrow('host must not contain');
    await expect(run('usage.report', { model: text })).rejects.toThrow('model must not contain');
    expect(await run('balance.show', { account: 'ada' })).toMatchObject({ balance_nanousd: 0n });
  },
);

test.each([1.5, '1e3', '', 'five', '0x10', '12345678901234567890', true])(
  'an amount of %j is refused with words that say what it must be',
  async (amount_nanousd) => {
    const credit = run('accounts.credit', { account: 'ada', amount_nanousd });
    await expect(credit).rejects.toThrow('amount_nanousd must be a whole number of nanodollars.');
  },
);

test.each([2 ** 53, -(2 ** 53), 1e30])(
  'an amount of %d is refused as a number, which may have lost digits, and not called too large',
  async (amount_nanousd) => {
    const credit = run('accounts.credit', { account: 'ada', amount_nanousd });
    await expect(credit).rejects.toThrow(
      'amount_nanousd has more digits than a JSON number keeps; send it as text, in quotes.',
    );
  },
);

test('lists and reports about a key of another account are refused, instead of having nothing in them', async () => {
  await run('accounts.create', { name: 'bob' });
  const { id: key } = (await run('keys.mint', { account: 'bob' })) as { id: string };
  const message = `The key ${key} does not belong to the account "ada".`;
  for (const verb of ['receipts.list', 'refusals.list', 'usage.report'])
    await expect(run(verb, { account: 'ada', key })).rejects.toMatchObject({ code: 'invalid_input', message });
});

test('what has only one valid value is refused with that value', async () => {
  for (const input of [{}, { restored: false }])
    await expect(run('jobs.resume', input)).rejects.toThrow('restored must be true.');
});
