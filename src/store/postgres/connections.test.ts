import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { freshSchema, runSql } from '../../../test/postgres.ts';
import { systemClock } from '../../kit/clock.ts';
import { LIMITS } from '../../limits.ts';
import { Connections } from './connections.ts';

/** A field of an error message, which ends with a zero byte. */
const field = (kind: string, text: string) => Buffer.from(`${kind}${text}\0`);

/** The answer to a client for which the server has no connection left. */
function noneLeft(): Buffer {
  const fields = [field('S', 'FATAL'), field('C', '53300'), field('M', 'too many connections'), Buffer.from('\0')];
  const body = Buffer.concat(fields);
  const head = Buffer.from('E....');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

test('work that waits for a connection fails too when none can be opened', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(noneLeft()));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const connections = new Connections(`postgres://tollgate@127.0.0.1:${port}/books`, systemClock, 1);
  const work = Array.from({ length: 4 }, () => connections.withLine(async () => 'done').catch(String));
  expect(await Promise.all(work)).toEqual(work.map(() => expect.stringContaining('too many connections')));
  await connections.close();
  server.close();
});

test('a query that waited when the connection was lost does not interrupt the work of new connections', async () => {
  const url = await freshSchema();
  const connections = new Connections(url, systemClock, 1);
  const pids = Array.from({ length: LIMITS.postgresAdmittersMax }, () =>
    connections.queryToAdmit<{ pid: number }>('SELECT pg_backend_pid() AS pid'),
  );
  const busy = pids.map(() => connections.queryToAdmit('SELECT pg_sleep(60)').catch(String));
  const waiting = connections.queryToAdmit('SELECT 1').catch(String);
  for (const [row] of await Promise.all(pids)) await runSql(url, 'SELECT pg_terminate_backend($1)', [row!.pid]);
  await Promise.all(busy);
  await connections.whenUp();
  expect(await waiting).toContain('StoreUnavailable');
  expect(connections.down).toBeNull();
  await connections.close();
});

test('a read without an answer in time fails alone, and a heartbeat without one means that the server is lost', async () => {
  const url = new URL(await freshSchema());
  // It replaces the time that each pool waits for an answer.
  url.searchParams.set('query_timeout', '100');
  const connections = new Connections(url.href.replaceAll('+', '%20'), systemClock, 1);
  await expect(connections.query('SELECT pg_sleep(2)')).rejects.toThrow('Query read timeout');
  await expect(connections.queryToAdmit('SELECT pg_sleep(2)')).rejects.toThrow('Query read timeout');
  expect(connections.down).toBeNull();
  await expect(connections.pulse('SELECT pg_sleep(2)')).rejects.toThrow('Query read timeout');
  expect(connections.down).not.toBeNull();
  await connections.close();
});

test('a new connection that is not answered in time says so once, and ends no other work', async () => {
  const url = new URL(await freshSchema());
  url.searchParams.set('query_timeout', '100');
  const connections = new Connections(url.href.replaceAll('+', '%20'), systemClock, 1);
  connections.checkEach(async (read) => void (await read("SELECT 'slow', 1 FROM pg_sleep(2)")));
  await expect(connections.query('SELECT 1')).rejects.toThrow(/^PostgreSQL: Query read timeout$/);
  expect(connections.down).toBeNull();
  await connections.close();
});
