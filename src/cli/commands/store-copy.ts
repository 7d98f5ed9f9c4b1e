import { storeUrlSchema } from '../../config/store.ts';
import { stringifyJson } from '../../json/stringify.ts';
import { StoreUnavailable } from '../../ledger/ledger.ts';
import type { CopyProgress, CopyView } from '../../operator/store.ts';
import type { CommandSpec } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { CliFailure, unreachable, usageFailure } from '../failure.ts';
import { ProgressLine } from '../progress.ts';
import { formatRecord } from '../table.ts';
import { usd } from '../text-values.ts';

export const copyCommand: CommandSpec = {
  name: 'copy',
  summary:
    'copy the ledger of a data folder into an empty PostgreSQL database; an interrupted copy resumes when run again',
  options: [
    ['--from <folder>', 'data folder to copy, with no server running on it; default: that of --data'],
    ['--to <url>', 'database to copy into, like postgres://user@host/name; default: that of --store'],
  ],
  examples: ['tollgate store copy --from ./data --to postgres://tollgate@db.lan/tollgate'],
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
      .catch((error: unknown) => {
        throw error instanceof StoreUnavailable ? unreachable(error.message, CHECK_TARGET) : error;
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
  comparing: 'comparing',
  verifying: 'verifying both sides',
};

/** The data folder that `tollgate doctor` would check is not what could not be reached. */
const CHECK_TARGET = 'tollgate store check --store URL';
const EQUAL =
  'Both ledgers verify and are equal, row by row. Start the replicas with --store and the same master keys. The old folder is marked as moved: it can be read, but not changed.';
const BEFORE = 'This ledger was copied there before and has not changed since. Nothing to do.';
const DIFFERENT =
  'THE COPY DIFFERS and cannot be used. The data folder was not changed: drop the database, create it again and repeat the copy.';

/** The URL is not repeated: it may contain a password. */
function readUrl(url: unknown): string {
  const read = storeUrlSchema.safeParse(url);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw usageFailure(
    url === undefined ? '--to is missing. Name the PostgreSQL database to copy into.' : `--to ${issue!.message}.`,
  );
}

function describeCopy(copy: CopyView): string {
  return formatRecord([
    ['copy', { begun: 'complete', resumed: 'resumed', begun_anew: 'restarted: the ledger had changed' }[copy.start]],
    ['rows there before', String(copy.rows_found)],
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
