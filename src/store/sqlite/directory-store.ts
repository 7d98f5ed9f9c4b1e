import type { Directory } from '../directory.ts';
import { directoryOver, programOf } from '../programs/directory-programs.ts';
import { runProgram } from './directory.ts';
import type { Link } from './link.ts';
import type { StatementCache } from './statement-cache.ts';
import type { WriterVerbs } from './writer-verbs.ts';

/** The directory, over a connection that reads and the store's writer. `read` turns a fault of the disk into an error for callers. */
export function sqliteDirectory(
  statements: StatementCache,
  writer: Pick<Link<WriterVerbs>, 'call'>,
  read: <Result>(run: () => Result) => Promise<Result>,
): Directory {
  return directoryOver({
    read: (name, args) => read(() => runProgram(statements, programOf(name, args))),
    change: (name, args) => writer.call('changeDirectory', name, args),
  });
}
