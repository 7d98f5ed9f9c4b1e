import { EnvHttpProxyAgent, request } from 'undici';

interface DownloadTerms {
  readonly bytesMax: number;
  readonly timeoutMs: number;
}

/** Reads a whole file, through the environment's proxy if there is one, and follows no redirect. Throws an Error that says why not. */
export async function downloadFile(url: URL, { bytesMax, timeoutMs }: DownloadTerms): Promise<Buffer> {
  const dispatcher = new EnvHttpProxyAgent();
  try {
    const { statusCode, body } = await request(url, { dispatcher, signal: AbortSignal.timeout(timeoutMs) });
    if (statusCode !== 200) {
      // Ending the body early is an error of the body, and not one of ours.
      body.on('error', () => undefined).destroy();
      throw new Error(`the server answered ${statusCode}`);
    }
    return await readAll(body, bytesMax);
  } finally {
    await dispatcher.destroy();
  }
}

async function readAll(body: AsyncIterable<Buffer>, bytesMax: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    bytes += piece.length;
    if (bytes > bytesMax) throw new Error(`the file is larger than ${bytesMax} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
