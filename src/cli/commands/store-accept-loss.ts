import { existsSync } from 'node:fs';
import { stringifyJson } from '../../json/stringify.ts';
import type { AcceptLossView } from '../../operator/store.ts';
import type { CommandSpec } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { CliFailure, unreachable, usageFailure } from '../failure.ts';
import { formatRecord } from '../table.ts';
import { usd } from '../text-values.ts';

export const acceptLossCommand: CommandSpec = {
  name: 'accept-loss',
  summary:
    'continue without the receipts lost with a damaged or deleted file, after "tollgate serve" has refused to start',
  options: [['--receipts <n>', 'how many receipts are missing; without it, the command only says how many']],
  examples: ['tollgate store accept-loss --receipts 3 --data ./data'],
  async run(session, _args, options) {
    const { store, dataFolder: folder } = session.config('leave');
    if (store !== null)
      throw usageFailure('This command is for a ledger in a data folder, but the configured ledger is in PostgreSQL.');
    if (!existsSync(folder)) throw unreachable(`There is no ledger in ${folder}.`, 'name the right folder with --data');
    const accepted = await session.composition.acceptLoss({ folder, receipts: readCount(options.receipts) });
    if ('refused' in accepted)
      throw new CliFailure(accepted.unreachable ? EXIT.unreachable : EXIT.no, accepted.refused);
    session.show({ text: stringifyJson(accepted), result: accepted }, describe);
    session.advise('The loss is noted in the ledger: "tollgate ledger verify" and "tollgate doctor" show it.');
    return EXIT.ok;
  },
};

function readCount(typed: unknown): bigint | null {
  if (typed === undefined) return null;
  if (typeof typed === 'string' && /^\d{1,18}$/.test(typed)) return BigInt(typed);
  throw usageFailure('--receipts must be a whole number.');
}

function describe({ folder, kept_in, receipts, spent_nanousd }: AcceptLossView): string {
  return formatRecord([
    ['folder', folder],
    ['receipts lost', String(receipts)],
    ['spending lost', usd(spent_nanousd)],
    ['damaged files', kept_in ?? 'none'],
  ]);
}
