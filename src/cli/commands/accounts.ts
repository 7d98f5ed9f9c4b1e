import { shellWord } from '../../kit/shell-words.ts';
import { LIMITS } from '../../limits.ts';
import { creditInDoubt } from '../../operator/credit.ts';
import type { AccountView } from '../../operator/view.ts';
import type { CommandGroup, CommandSpec, Options } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { usageFailure } from '../failure.ts';
import { AnswerLost } from '../operator-client.ts';
import { PAGE_OPTIONS, readPage, sayMore } from '../paging.ts';
import { formatRecord, formatTable } from '../table.ts';
import { newReference, readNanousd, readUsd, textOption, time, usd } from '../text-values.ts';
import { entriesCommand } from './entries.ts';

const createCommand: CommandSpec = {
  name: 'create <name>',
  summary: 'create an account',
  options: [['--unlimited', 'let the account spend without credit; spend is still recorded']],
  examples: ['tollgate accounts create ada'],
  async run(session, [name = ''], options) {
    const kind = options.unlimited === true ? 'unlimited' : 'prepaid';
    const answer = await session.ask('accounts.create', { name, kind }, { mayCreate: true });
    session.show(answer, describeAccount);
    if (kind === 'prepaid')
      session.advise(`The account has no credit yet. Add some: tollgate accounts credit ${shellWord(name)} 10`);
    return EXIT.ok;
  },
};

const listCommand: CommandSpec = {
  name: 'list',
  summary: 'list accounts with their balances',
  options: PAGE_OPTIONS,
  examples: ['tollgate accounts list', 'tollgate accounts list --json | jq ".data[].balance_nanousd"'],
  async run(session, _args, options) {
    const answer = await session.ask('accounts.list', readPage(options));
    session.show(answer, ({ data }) => (data.length === 0 ? '' : formatTable(COLUMNS, data)));
    if (answer.result.data.length === 0)
      session.advise('There are no accounts yet. Create one: tollgate accounts create ada');
    sayMore(session, answer.result.next);
    return EXIT.ok;
  },
};

const creditCommand: CommandSpec = {
  name: 'credit <account> [usd]',
  summary: 'add credit to an account, or remove it with a negative amount',
  options: [
    ['--nanousd <amount>', 'amount in nanodollars, instead of dollars'],
    ['--reference <text>', 'credit this reference only once, however often the command runs'],
    ['--note <text>', 'note to store with the credit'],
  ],
  examples: ['tollgate accounts credit ada 5.25 --reference invoice-7', 'tollgate accounts credit ada -1'],
  async run(session, [account = '', dollars], options) {
    const amount = readAmount(dollars, options);
    const reference = textOption(options, 'reference', LIMITS.creditReferenceCharsMax) ?? newReference('credit_');
    const note = textOption(options, 'note', LIMITS.creditNoteCharsMax);
    const answer = await session
      .ask('accounts.credit', { account, amount_nanousd: amount, reference, note })
      .catch((error: unknown) => {
        if (!(error instanceof AnswerLost)) throw error;
        throw creditInDoubt(error.message, { account, amountNanousd: BigInt(amount), reference, note });
      });
    session.show(answer, (credit) =>
      formatRecord([
        ['account', account],
        ['credited', usd(credit.repeated ? 0 : credit.amount_nanousd)],
        ['reference', credit.reference],
        ['balance', usd(credit.balance_nanousd)],
      ]),
    );
    if (answer.result.repeated) session.advise('This reference was credited before; nothing was changed.');
    return EXIT.ok;
  },
};

export const accountsCommands: CommandGroup = {
  name: 'accounts',
  summary: 'manage accounts and their credit',
  commands: [createCommand, listCommand, creditCommand, entriesCommand],
};

const COLUMNS = [
  { title: 'ID', text: (account: AccountView) => account.id },
  { title: 'NAME', text: (account: AccountView) => account.name },
  { title: 'KIND', text: (account: AccountView) => account.kind },
  { title: 'BALANCE', align: 'right', text: (account: AccountView) => usd(account.balance_nanousd) },
  { title: 'HELD', align: 'right', text: (account: AccountView) => usd(account.held_nanousd) },
  { title: 'SPENT', align: 'right', text: (account: AccountView) => usd(account.spent_nanousd) },
  { title: 'CREATED (UTC)', text: (account: AccountView) => time(account.created) },
] as const;

function describeAccount(account: AccountView): string {
  return formatRecord([
    ['id', account.id],
    ['name', account.name],
    ['kind', account.kind],
    ['balance', usd(account.balance_nanousd)],
  ]);
}

function readAmount(dollars: string | undefined, options: Options): string {
  const nanousd = options.nanousd;
  if (typeof nanousd === 'string' && dollars !== undefined)
    throw usageFailure('Give either an amount in dollars or --nanousd, not both.');
  if (typeof nanousd === 'string') return readNanousd(nanousd, '--nanousd');
  if (dollars === undefined) throw usageFailure('The amount is missing. Give it in dollars, or with --nanousd.');
  return readUsd(dollars, 'The amount');
}
