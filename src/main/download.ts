import type { Refused } from '../cli/composition.ts';
import { isLoopback } from '../hosts/schema.ts';
import { downloadFile } from '../http1/download.ts';
import { LIMITS } from '../limits.ts';

/** Reads a catalog, or a set of keys that verify receipts, from the URL that an operator typed. */
export async function download(url: URL): Promise<Buffer | Refused> {
  if (url.protocol !== 'https:' && !isLoopback(url.hostname)) return { refused: 'the URL must begin with https' };
  try {
    return await downloadFile(url, { bytesMax: LIMITS.catalogBytesMax, timeoutMs: LIMITS.catalogDownloadMs });
  } catch (error) {
    return { refused: error instanceof Error ? error.message : String(error) };
  }
}
