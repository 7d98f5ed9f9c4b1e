import type { Directory } from '../directory.ts';
import { directoryOver, LONG_DIRECTORY_READS, programOf } from '../programs/directory-programs.ts';
import { runProgram } from './directory.ts';
import type { Link } from './link.ts';
import type { ScannerVerbs } from './scanner-verbs.ts';
import type { StatementCache } from './statement-cache.ts';
import type { WriterVerbs } from './writer-verbs.ts';

/**
 * The directory, over a connection that reads, the thread for long reads, and the store's writer. `read` turns a fault of the
 * disk into an error for callers.
 */
export function sqliteDirectory(
  statements: StatementCache,
  writer: Pick<Link<WriterVerbs>, 'call'>,
  read: <Result>(run: () => Result) => Promise<Result>,
  scan: Link<Pick<ScannerVerbs, 'readDirectory'>>['call'],
): Directory {
  return directoryOver({
    read: (name, args) =>
      LONG_DIRECTORY_READS.has(name)
        ? scan('readDirectory', name, args)
        : read(() => runProgram(statements, programOf(name, args))),
    change: (name, args) => writer.call('changeDirectory', name, args),
  });
}
