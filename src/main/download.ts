import { EnvHttpProxyAgent, request } from 'undici';
import type { Refused } from '../cli/composition.ts';
import { isLoopback } from '../hosts/schema.ts';
import { LIMITS } from '../limits.ts';

/** Reads a file from an operator's URL. It follows no redirect, and reads no more than a catalog may have. */
export async function download(url: URL): Promise<Buffer | Refused> {
  if (url.protocol !== 'https:' && !isLoopback(url.hostname)) return { refused: 'the URL must begin with https' };
  const dispatcher = new EnvHttpProxyAgent();
  try {
    const signal = AbortSignal.timeout(LIMITS.catalogDownloadMs);
    const { statusCode, body } = await request(url, { dispatcher, signal });
    if (statusCode !== 200) {
      // Ending the body early is an error of the body, and not one of ours.
      body.on('error', () => undefined).destroy();
      return { refused: `the server answered ${statusCode}` };
    }
    return await readAll(body);
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) };
  } finally {
    await dispatcher.destroy();
  }
}

async function readAll(body: AsyncIterable<Buffer>): Promise<Buffer | Refused> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > LIMITS.catalogBytesMax) return { refused: `it is larger than ${LIMITS.catalogBytesMax} bytes` };
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
