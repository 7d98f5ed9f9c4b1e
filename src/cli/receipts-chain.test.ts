import { afterEach, beforeEach, expect, test } from 'vitest';
import { CliFixture } from '../../test/cli-fixture.ts';
import { aHold, aSettle } from '../../test/store-fixtures.ts';
import { parseId } from '../kit/ids.ts';
import { EXIT } from './exit-codes.ts';

let cli: CliFixture;

beforeEach(async () => {
  cli = new CliFixture();
  const { id } = await cli.json(['accounts', 'create', 'ada']);
  await cli.run(['accounts', 'credit', 'ada', '1']);
  await cli.store.registerPrices('p1', '{}');
  const accountId = parseId('acct_', String(id))!;
  const { epoch } = await cli.store.beginInstance();
  const { ids } = await cli.services();
  const hold = (chain: string | null, callId = ids.next()) => aHold(callId, 500_000n, { accountId, epoch, chain });
  const [first, second, running, other] = [hold('order-17;1'), hold('order-17;2'), hold('order-18;1'), hold(null)];
  await cli.store.apply([first, aSettle(first.id, 300_000n), second, aSettle(second.id, 22_350n)]);
  await cli.store.apply([running, other]);
});
afterEach(() => cli.remove());

test('lists the calls of a chain with what they cost together', async () => {
  const { code, out, err } = await cli.run(['receipts', 'list', '--account', 'ada', '--chain', 'order-17']);
  expect(code).toBe(EXIT.ok);
  expect(out.trim().split('\n')).toHaveLength(3);
  expect(err).toContain('2 calls, $0.00032235 in total.');
});

test('says how much of the cost of a chain was refunded', async () => {
  const { data } = await cli.json(['receipts', 'list', '--chain', 'order-17']);
  await cli.run(['receipts', 'refund', (data as { id: string }[])[0]!.id, '--nanousd', '22350']);
  const { err } = await cli.run(['receipts', 'list', '--chain', 'order-17']);
  expect(err).toContain('2 calls, $0.00032235 in total, of which $0.00002235 was refunded.');
});

test('says that the cost of a chain is not complete while one of its calls runs', async () => {
  const { err } = await cli.run(['receipts', 'list', '--chain', 'order-18']);
  expect(err).toContain('1 call, $0.00 so far; 1 still running.');
});

test('prints no sum for other lists, nor as JSON', async () => {
  expect((await cli.run(['receipts', 'list'])).err).not.toContain('in total');
  expect((await cli.run(['receipts', 'list', '--chain', 'order-17', '--json'])).err).toBe('');
});
