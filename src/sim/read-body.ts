import type { IncomingMessage } from 'node:http';

/** Resolves to the whole body, or to null once it is too long; never resolves if the client disconnects first. */
export function readBody(
  request: IncomingMessage,
  bytesMax: number,
  onBytes: (count: number) => void,
  onBody: (body: string | null) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    onBytes(chunk.length);
    if (bytes <= bytesMax) chunks.push(chunk);
    else if (bytes - chunk.length <= bytesMax) onBody(null);
  });
  request.on('end', () => {
    if (bytes > bytesMax) return;
    onBody(chunks.length === 1 ? chunks[0]!.toString() : Buffer.concat(chunks).toString());
  });
}
