import type { EntryView } from '../../operator/entries.ts';
import type { CommandSpec } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { PAGE_OPTIONS, readPage, sayMore } from '../paging.ts';
import { formatTable } from '../table.ts';
import { time, usd, usdOr } from '../text-values.ts';

export const entriesCommand: CommandSpec = {
  name: 'entries <account>',
  summary:
    "list what moved an account's money: credits, refunds and closed months, the holds of running calls, and the reservations of waiting jobs",
  options: PAGE_OPTIONS,
  examples: ['tollgate accounts entries ada'],
  async run(session, [account = ''], options) {
    const answer = await session.ask('accounts.entries', { account, ...readPage(options) });
    session.show(answer, ({ data }) => (data.length === 0 ? '' : formatTable(COLUMNS, data)));
    if (answer.result.data.length === 0) session.advise('The account has no entries yet.');
    sayMore(session, answer.result.next);
    return EXIT.ok;
  },
};

const COLUMNS = [
  { title: 'ID', text: (entry: EntryView) => entry.id },
  { title: 'CREATED (UTC)', text: (entry: EntryView) => time(entry.created) },
  { title: 'TYPE', text: (entry: EntryView) => entry.type },
  { title: 'AMOUNT', align: 'right', text: (entry: EntryView) => usd(entry.amount_nanousd) },
  {
    title: 'HELD',
    align: 'right',
    text: (entry: EntryView) => usdOr(entry.held_nanousd ?? entry.reserved_nanousd, '-'),
  },
  { title: 'RECEIPTS', align: 'right', text: ({ receipts, receipt }: EntryView) => String(receipts ?? receipt ?? '-') },
  { title: 'REFERENCE', text: (entry: EntryView) => entry.reference ?? '-' },
  { title: 'NOTE', text: (entry: EntryView) => entry.note ?? '-' },
] as const;
