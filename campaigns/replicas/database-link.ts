import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';

/** Text that occurs only in batches with such an operation. */
export const STATEMENT = {
  hold: 'INSERT INTO call (',
  settle: 'ended_ms = s.ended_ms',
  void: 'loss_reason = v.reason',
} as const;

/** A replica's connection to the database; it can be cut just before a statement arrives or just after its commit. */
export interface DatabaseLink {
  readonly url: string;
  /** The statement, and everything after it, never arrives. */
  stopBefore(statement: string, then: () => void): void;
  /** The commit is durable, but its answer is lost. */
  stopAfter(statement: string, then: () => void): void;
  /** Everything passes again. */
  pass(): void;
  close(): void;
}

interface Stop {
  readonly statement: Buffer;
  readonly moment: 'before' | 'after';
  readonly then: () => void;
}

const SOCKET = '.s.PGSQL.5432';
/** PostgreSQL's confirmation of a commit. */
const COMMITTED = Buffer.from('COMMIT\0');

export async function openDatabaseLink(databaseUrl: string, folder: string): Promise<DatabaseLink> {
  const target = join(new URL(databaseUrl).searchParams.get('host')!, SOCKET);
  const sockets = new Set<Socket>();
  let stop: Stop | null = null;
  let isStopped = false;

  const halt = ({ then }: Stop): void => {
    isStopped = true;
    stop = null;
    then();
  };
  const listener = createServer((client) => {
    const server = connect(target);
    let awaited: Stop | null = null;
    let said = Buffer.alloc(0);
    const end = (): void => {
      for (const socket of [client, server]) {
        sockets.delete(socket);
        socket.destroy();
      }
    };
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', end).on('close', end);
    }
    client.on('data', (bytes) => {
      if (isStopped) return;
      if (stop !== null && awaited === null) {
        // A statement may arrive in two pieces.
        const heard = Buffer.concat([said, bytes]);
        said = heard.subarray(-stop.statement.length);
        if (heard.includes(stop.statement)) {
          if (stop.moment === 'before') return halt(stop);
          awaited = stop;
        }
      }
      server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (isStopped) return;
      if (awaited !== null && awaited === stop && bytes.includes(COMMITTED)) return halt(awaited);
      client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => listener.listen(join(folder, SOCKET), resolve));
  const own = new URL(databaseUrl);
  own.searchParams.set('host', folder);
  const stopAt = (statement: string, moment: Stop['moment'], then: () => void): void => {
    stop = { statement: Buffer.from(statement), moment, then };
  };
  return {
    url: own.href.replaceAll('+', '%20'),
    stopBefore: (statement, then) => stopAt(statement, 'before', then),
    stopAfter: (statement, then) => stopAt(statement, 'after', then),
    pass: () => {
      stop = null;
      isStopped = false;
    },
    close: () => {
      listener.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
