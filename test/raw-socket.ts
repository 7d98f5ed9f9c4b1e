import { connect, type Socket } from 'node:net';

/** An answer as it came over the wire. */
export interface SocketAnswer {
  readonly status: number;
  /** Names in lower case; if a name is repeated, the last value counts. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function openSocket(url: string): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {});
  return socket;
}

/** Everything that came back until the connection was closed. */
export function readToEnd(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.once('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
  });
}

/** Sends the bytes on a connection of their own; every character is one byte. */
export function speak(url: string, bytes: string): Promise<string> {
  const socket = openSocket(url);
  socket.write(bytes, 'latin1');
  return readToEnd(socket);
}

/** The first answer of what came back, its body as far as its length says; null if there is none. */
export function firstAnswer(text: string): SocketAnswer | null {
  const split = text.indexOf('\r\n\r\n');
  const [line = '', ...lines] = text.slice(0, split === -1 ? 0 : split).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1] ?? Number.NaN);
  if (Number.isNaN(status)) return null;
  const headers = Object.fromEntries(lines.map(headerOf));
  const length = Number(headers['content-length'] ?? Number.MAX_SAFE_INTEGER);
  return { status, headers, body: text.slice(split + 4, split + 4 + length) };
}

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}
