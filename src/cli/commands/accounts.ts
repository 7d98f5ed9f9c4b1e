import { CREDIT_PREFIX } from '../../canonical/id-prefixes.ts';
import { shellWord } from '../../kit/shell-words.ts';
import { LIMITS } from '../../limits.ts';
import { creditInDoubt } from '../../operator/credit.ts';
import type { AccountView } from '../../operator/view.ts';
import type { CommandGroup, CommandSpec, Options } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { usageFailure } from '../failure.ts';
import { ResponseLost } from '../operator-client.ts';
import { PAGE_OPTIONS, readPage, sayMore } from '../paging.ts';
import { formatRecord, formatTable } from '../table.ts';
import { newReference, readChange, readNanousd, readUsd, textOption, time, usd } from '../text-values.ts';
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

const showCommand: CommandSpec = {
  name: 'show <account>',
  summary: 'show an account with its balance',
  examples: ['tollgate accounts show ada'],
  async run(session, [account = '']) {
    const answer = await session.ask('accounts.show', { account });
    session.show(answer, (shown) =>
      formatRecord([
        ...factsOf(shown),
        ['held', usd(shown.held_nanousd)],
        ['reserved', usd(shown.reserved_nanousd)],
        ['available', shown.kind === 'unlimited' ? 'unlimited' : usd(shown.available_nanousd)],
        ['spent', usd(shown.spent_nanousd)],
        ['created', `${time(shown.created)} UTC`],
      ]),
    );
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
    const reference = textOption(options, 'reference', LIMITS.creditReferenceCharsMax) ?? newReference(CREDIT_PREFIX);
    const note = textOption(options, 'note', LIMITS.creditNoteCharsMax);
    const answer = await session
      .ask('accounts.credit', { account, amount_nanousd: amount, reference, note })
      .catch((error: unknown) => {
        if (!(error instanceof ResponseLost)) throw error;
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

const renameCommand: CommandSpec = {
  name: 'rename <account> <name>',
  summary: 'rename an account; its id, keys and balance stay',
  examples: ['tollgate accounts rename ada lovelace'],
  async run(session, [account = '', name = '']) {
    session.show(await session.ask('accounts.rename', { account, name }), describeAccount);
    return EXIT.ok;
  },
};

const suspendCommand: CommandSpec = {
  name: 'suspend <account>',
  summary: 'refuse new calls of an account; running calls finish and are charged',
  examples: ['tollgate accounts suspend ada'],
  async run(session, [account = '']) {
    session.show(await session.ask('accounts.suspend', { account }), describeAccount);
    return EXIT.ok;
  },
};

const resumeCommand: CommandSpec = {
  name: 'resume <account>',
  summary: 'let a suspended account make calls again',
  examples: ['tollgate accounts resume ada'],
  async run(session, [account = '']) {
    session.show(await session.ask('accounts.resume', { account }), describeAccount);
    return EXIT.ok;
  },
};

const CLOSE_WAIT_S_MAX = LIMITS.accountCloseWaitMs / 1000;

const closeCommand: CommandSpec = {
  name: 'close <account>',
  summary: 'suspend an account, wait for its running calls, pay the balance out and close it for good',
  options: [
    ['--wait <seconds>', `how long to wait for running calls, at most ${CLOSE_WAIT_S_MAX}; 10 by default`],
    ['--note <text>', 'note to store with the entry that pays the balance out'],
  ],
  examples: ['tollgate accounts close ada --wait 60'],
  async run(session, [account = ''], options) {
    const note = textOption(options, 'note', LIMITS.creditNoteCharsMax);
    const wait = readWait(options);
    const input = { account, ...(note !== null && { note }), ...(wait !== null && { wait_seconds: wait }) };
    const answer = await session.ask('accounts.close', input);
    session.show(answer, (closed) =>
      formatRecord([
        ['id', closed.id],
        ['name', closed.name],
        ['status', closed.status],
        ['paid out', usd(closed.paid_out_nanousd)],
        ['spent', usd(closed.spent_nanousd)],
      ]),
    );
    return EXIT.ok;
  },
};

function readWait({ wait }: Options): number | null {
  if (typeof wait !== 'string') return null;
  if (/^\d{1,4}$/.test(wait) && Number(wait) <= CLOSE_WAIT_S_MAX) return Number(wait);
  throw usageFailure(`--wait must be a whole number of seconds up to ${CLOSE_WAIT_S_MAX}, not "${wait}".`);
}

export const accountsCommands: CommandGroup = {
  name: 'accounts',
  summary: 'manage accounts and their credit',
  commands: [
    createCommand,
    listCommand,
    showCommand,
    creditCommand,
    entriesCommand,
    renameCommand,
    suspendCommand,
    resumeCommand,
    closeCommand,
  ],
};

const COLUMNS = [
  { title: 'ID', text: (account: AccountView) => account.id },
  { title: 'NAME', text: (account: AccountView) => account.name },
  { title: 'KIND', text: (account: AccountView) => account.kind },
  { title: 'STATUS', text: (account: AccountView) => account.status },
  { title: 'BALANCE', align: 'right', text: (account: AccountView) => usd(account.balance_nanousd) },
  { title: 'HELD', align: 'right', text: (account: AccountView) => usd(account.held_nanousd) },
  { title: 'SPENT', align: 'right', text: (account: AccountView) => usd(account.spent_nanousd) },
  { title: 'CREATED (UTC)', text: (account: AccountView) => time(account.created) },
] as const;

function describeAccount(account: AccountView): string {
  return formatRecord(factsOf(account));
}

function factsOf(account: AccountView): (readonly [label: string, value: string])[] {
  return [
    ['id', account.id],
    ['name', account.name],
    ['kind', account.kind],
    ['status', account.status],
    ['balance', usd(account.balance_nanousd)],
  ];
}

function readAmount(dollars: string | undefined, options: Options): string {
  const nanousd = options.nanousd;
  if (typeof nanousd === 'string' && dollars !== undefined)
    throw usageFailure('Give either an amount in dollars or --nanousd, not both.');
  if (typeof nanousd === 'string') return readChange(readNanousd(nanousd, '--nanousd'), '--nanousd');
  if (dollars === undefined) throw usageFailure('The amount is missing. Give it in dollars, or with --nanousd.');
  return readChange(readUsd(dollars, 'The amount'), 'The amount');
}
