import { connect } from 'node:net';
import type pg from 'pg';

/** The code of a cancel request, which takes the place of a protocol version. */
const CANCEL_REQUEST = 80_877_102;

interface Session {
  readonly host: string;
  readonly port: number;
  readonly processID: number;
  readonly secretKey: number;
}

/**
 * Ends what the server still does for a connection that is given up: it would notice only when it has a result to send, and
 * wait for a lock until then, as one of the connections that it can have. The request goes over a connection of its own,
 * as the protocol wants it. If it is lost, the server waits as it would without it.
 */
export function cancelStatement(client: pg.ClientBase): void {
  const { host, port, processID, secretKey } = client as unknown as Session;
  const request = Buffer.alloc(16);
  for (const [at, number] of [request.length, CANCEL_REQUEST, processID, secretKey].entries())
    request.writeInt32BE(number, 4 * at);
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.unref();
  socket.on('error', () => undefined);
  socket.end(request);
}
