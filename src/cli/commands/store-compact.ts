import { stringifyJson } from '../../json/stringify.ts';
import type { CompactView } from '../../operator/store.ts';
import type { CommandSpec } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { CliFailure } from '../failure.ts';
import { ProgressLine } from '../progress.ts';
import { formatRecord } from '../table.ts';

export const compactCommand: CommandSpec = {
  name: 'compact',
  summary: 'give back the disk space of deleted receipts; a data folder must not be open in a server',
  examples: ['tollgate store compact --data ./data'],
  async run(session) {
    const { store, dataFolder: folder } = session.config('leave');
    const line = new ProgressLine(session);
    const [what, unit] = store === null ? ['verifying the new file', 'rows'] : ['vacuumed', 'tables'];
    const compacted = await session.composition
      .compactStore({
        store,
        folder,
        progress: ({ rowsRead, rowsTotal }) => line.tell(what, rowsRead, rowsTotal, unit),
      })
      .finally(() => line.end());
    if ('refused' in compacted)
      throw new CliFailure(compacted.unreachable ? EXIT.unreachable : EXIT.no, compacted.refused);
    session.show({ text: stringifyJson(compacted), result: compacted }, describe);
    session.advise(compacted.engine === 'sqlite' ? REPLACED : VACUUMED);
    return EXIT.ok;
  },
};

const REPLACED = 'The ledger was verified and is now in a file without unused space.';
const VACUUMED =
  'PostgreSQL reuses the space of deleted rows for new ones. To make its files smaller, stop the replicas and run VACUUM FULL on the table "call", or use pg_repack.';

function describe({ bytes_before, bytes_after }: CompactView): string {
  return formatRecord([
    ['bytes before', String(bytes_before)],
    ['bytes after', String(bytes_after)],
  ]);
}
