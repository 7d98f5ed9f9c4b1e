import { storeUrlSchema } from '../../config/store.ts';
import { stringifyJson } from '../../json/stringify.ts';
import type { CopyProgress, CopyView } from '../../operator/store.ts';
import { EXIT } from '../exit-codes.ts';
import { CliFailure, usageFailure } from '../failure.ts';
import type { Leaf } from '../leaf.ts';
import { ProgressLine } from '../progress.ts';
import { formatRecord } from '../table.ts';
import { usd } from '../words.ts';

export const copyLeaf: Leaf = {
  name: 'copy',
  summary:
    'copy the books of a data folder into a PostgreSQL database of their own; broken off, it goes on when run again',
  options: [
    ['--from <folder>', 'data folder that is copied, with no server on it; else that of --data'],
    ['--to <url>', 'database that is copied into, as postgres://user@host/name; else that of --store'],
  ],
  examples: ['tollgate store copy --from ./books --to postgres://tollgate@db.lan/tollgate'],
  async run(session, _args, options) {
    const config = session.config('leave');
    const from = typeof options.from === 'string' ? options.from : config.dataFolder;
    const to = readUrl(options.to ?? config.store?.url.reveal());
    const line = new ProgressLine(session);
    const copy = await session.composition
      .copyStore({
        from: session.pathOf(from),
        to,
        progress: (done) => line.tell(WORDS[done.phase], done.done, done.total),
      })
      .finally(() => line.end());
    if ('refused' in copy) throw new CliFailure(copy.unreachable ? EXIT.unreachable : EXIT.no, copy.refused);
    const text = stringifyJson(copy);
    if (copy.start === 'copied_before') {
      session.show({ text, result: copy }, () => '');
      session.advise(BEFORE);
      return EXIT.ok;
    }
    session.show({ text, result: copy }, describeCopy);
    for (const fault of copy.faults) session.say(fault);
    session.advise(copy.ok ? EQUAL : DIFFERENT);
    return copy.ok ? EXIT.ok : EXIT.no;
  },
};

const WORDS: Readonly<Record<CopyProgress['phase'], string>> = {
  copying: 'copying',
  comparing: 'reading back',
  verifying: 'verifying both sides',
};

const EQUAL =
  'Both sides verify and are the same, row by row. Start the replicas with --store and the same master keys. The old folder is marked: it can be read, and nothing works on it any more.';
const BEFORE = 'These books were copied there before and not used here since: there is nothing left to do.';
const DIFFERENT =
  'THE COPY IS NOT THE SAME and cannot be served from. Nothing in the data folder was changed: drop the database, make it anew and copy again.';

/** The URL is not repeated: there may be a password in it. */
function readUrl(url: unknown): string {
  const read = storeUrlSchema.safeParse(url);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw usageFailure(url === undefined ? 'Copy where to? Name a PostgreSQL with --to.' : `--to ${issue!.message}.`);
}

function describeCopy(copy: CopyView): string {
  return formatRecord([
    [
      'copy',
      { begun: 'complete', resumed: 'gone on with', begun_anew: 'begun anew: the books had been used' }[copy.start],
    ],
    ['rows found', String(copy.rows_found)],
    ['rows copied', String(copy.rows_copied)],
    ['accounts', String(copy.accounts)],
    ['keys', String(copy.keys)],
    ['receipts', String(copy.receipts)],
    ['credits', `${copy.credits}, ${usd(copy.credited_nanousd)}`],
    ['balances', usd(copy.balance_nanousd)],
    ['spent', usd(copy.spent_nanousd)],
    ['differences', String(copy.faults.length)],
  ]);
}
