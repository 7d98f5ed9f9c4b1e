import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CliFixture } from '../../test/cli-fixture.ts';
import { aHold, aSettle } from '../../test/store-fixtures.ts';
import { formatId, parseId } from '../kit/ids.ts';
import { EXIT } from './exit-codes.ts';
import { ResponseLost } from './operator-client.ts';

let cli: CliFixture;
let receipt: string;

beforeEach(async () => {
  cli = new CliFixture();
  const { id } = await cli.json(['accounts', 'create', 'ada']);
  await cli.run(['accounts', 'credit', 'ada', '1', '--reference', 'invoice-7', '--note', 'first']);
  await cli.store.registerPrices('p1', '{}');
  const callId = (await cli.services()).ids.next();
  const account = { accountId: parseId('acct_', String(id))! };
  const { epoch } = await cli.store.beginInstance();
  await cli.store.apply([aHold(callId, 500_000_000n, { ...account, epoch }), aSettle(callId, 300_000_000n)]);
  receipt = formatId('req_', callId);
});
afterEach(() => cli.remove());

const refund = (...options: string[]) => cli.run(['receipts', 'refund', receipt, ...options]);

test('a receipt is refunded in part and then whole, and never beyond its cost', async () => {
  const part = await refund('--amount', '0.1', '--reference', 'ticket-1', '--note', 'cut off');
  expect(part).toMatchObject({
    code: EXIT.ok,
    out: expect.stringMatching(/refunded +\$0.10\n[\s\S]*balance +\$0.80\n/),
  });
  expect((await refund('--amount', '0.1', '--reference', 'ticket-1')).err).toContain(
    'A refund with this reference was made before',
  );
  const tooMuch = await refund('--nanousd', '200000001');
  expect(tooMuch).toMatchObject({ code: EXIT.no, err: expect.stringContaining('$0.20 can still be refunded') });
  expect((await refund()).out).toMatch(/refunded in all +\$0.30\n/);
  expect((await refund()).err).toContain('All of its cost, $0.30, was refunded before.');
  expect((await cli.run(['receipts', 'show', receipt])).out).toMatch(/refunded +\$0.30\n/);
  const entries = await cli.run(['accounts', 'entries', 'ada']);
  expect(entries.out).toMatch(
    /refund +\$0.20 [\s\S]*refund +\$0.10 .*ticket-1 +cut off\n[\s\S]*credit +\$1.00 .*invoice-7 +first\n/,
  );
});

test.each([
  ['two amounts', ['--amount', '1', '--nanousd', '1'], 'not both'],
  ['an invalid amount', ['--amount', 'all'], '--amount must be an amount in dollars'],
])('%s are a mistake of the command', async (_, options, message) => {
  expect(await refund(...options)).toMatchObject({ code: EXIT.usage, err: expect.stringContaining(message) });
});

test('an amount of zero or less is refused', async () => {
  for (const amount of ['0', '-1'])
    expect((await refund('--nanousd', amount)).err).toContain('--nanousd must be more than $0');
});

test('a refund whose answer is lost names the command that repeats it safely', async () => {
  const services = await cli.services();
  vi.spyOn(services.ledger, 'credit').mockRejectedValueOnce(new ResponseLost('The server did not answer.'));
  const { err } = await refund('--amount', '0.1', '--reference', 'ticket 1');
  expect(err).toContain(`It is unknown whether ${receipt} was refunded.`);
  expect(err).toContain(`tollgate receipts refund ${receipt} --amount 0.10 --reference 'ticket 1'`);
});
