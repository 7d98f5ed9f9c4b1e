import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';

/** What tests of the small wires share: hosts' answers, and a server that official clients can be pointed at. */

type Fields = Record<string, unknown>;

export interface Recording {
  readonly id: string;
  readonly mode: 'stream' | 'buffered';
  readonly status: number;
  readonly covers: string;
  readonly body: Buffer;
  readonly request: Buffer;
  /** The final usage as the host sent it; null if it sent none. */
  readonly usage: Fields | null;
}

const ROOT = resolve(import.meta.dirname, '..');
const CORPUS = resolve(ROOT, '../shared/corpus');

/** Written for this project, and always available. */
export function ownRecordings(wire: string): Recording[] {
  const folder = join(ROOT, 'fixtures/wires', wire);
  return readIndex(join(folder, 'index.json')).map((item) => readItem(folder, item));
}

/** Recorded traffic; empty if this machine does not have it, which the tests report. */
export function corpusRecordings(wire: string): Recording[] {
  const index = join(CORPUS, 'index.json');
  if (!existsSync(index)) return [];
  return readIndex(index)
    .filter((item) => item.wire === wire)
    .map((item) => readItem(CORPUS, item));
}

function readIndex(path: string): Fields[] {
  return (JSON.parse(readFileSync(path, 'utf8')) as { items: Fields[] }).items;
}

function readItem(folder: string, item: Fields): Recording {
  const { id, mode, status, covers, usage } = item as unknown as Recording;
  const read = (name: unknown): Buffer => readFileSync(join(folder, name as string));
  return { id, mode, status, covers, usage, body: read(item.response), request: read(item.request) };
}

export interface ServedResponse {
  readonly status?: number;
  readonly type?: string;
  readonly body: string | Buffer;
}

/** Runs with a server that answers every request as told; the server is gone afterwards. */
export async function withServer<T>(
  answer: (path: string, body: Buffer) => ServedResponse,
  use: (origin: string) => Promise<T>,
): Promise<T> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { status = 200, type = 'application/json', body } = answer(request.url ?? '', Buffer.concat(pieces));
      response.writeHead(status, { 'content-type': type });
      response.end(body);
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
}
