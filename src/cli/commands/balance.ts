import type { BalanceView, HangupsView, SpendingView } from '../../canonical/balance-view.ts';
import type { CommandSpec } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { formatRecord } from '../table.ts';
import { time, usd, usdOr } from '../text-values.ts';

export const balanceCommand: CommandSpec = {
  name: 'balance [account]',
  summary: "show an account's balance; without a name, that of the local account",
  options: [['--key <key>', "also show the key's spend and cap"]],
  examples: ['tollgate balance ada', 'tollgate balance --key key_…'],
  async run(session, [account], { key }) {
    const answer = await session.ask('balance.show', {
      ...(account !== undefined && { account }),
      ...(typeof key === 'string' && { key }),
    });
    session.show(answer, describeBalance);
    return EXIT.ok;
  },
};

function describeBalance(balance: BalanceView & { account: string; name: string }): string {
  return formatRecord([
    ['account', `${balance.name} (${balance.account})${balance.unlimited ? ', unlimited' : ''}`],
    ['balance', usd(balance.balance_nanousd)],
    ['held', usd(balance.held_nanousd)],
    ...(balance.reserved_nanousd === 0n ? [] : ([['reserved', usd(balance.reserved_nanousd)]] as const)),
    ['available', balance.unlimited ? 'unlimited' : usd(balance.available_nanousd)],
    ['spent', usd(balance.spent_nanousd)],
    ...(balance.hangups == null ? [] : describeHangups(balance.hangups)),
    ...(balance.key === null ? [] : describeSpending('key', balance.key)),
    ...(balance.person === undefined ? [] : describeSpending('person', balance.person)),
  ]);
}

function describeHangups({ allowance_nanousd, remaining_nanousd, resets_at }: HangupsView): [string, string][] {
  const left = `${usd(remaining_nanousd)} of ${usd(allowance_nanousd)} left`;
  return [['free hang-ups', `${left}, whole again ${time(resets_at)} UTC`]];
}

function describeSpending(whose: string, spending: SpendingView): [string, string][] {
  return [
    [whose, spending.id],
    [`${whose} spent`, `${usd(spending.spent_nanousd)} per ${spending.window}`],
    [`${whose} cap`, usdOr(spending.spend_cap_nanousd, 'none')],
    [`${whose} remaining`, usdOr(spending.remaining_nanousd, 'no cap')],
    [`${whose} resets`, spending.resets_at === null ? 'never' : `${time(spending.resets_at)} UTC`],
  ];
}
