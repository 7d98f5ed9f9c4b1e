import { clientReads, type OutboundResponse } from '../http1/server.ts';
import type { PlainResponse } from './routes.ts';

export function isWhole(body: PlainResponse['body']): body is string | Buffer | null {
  return body === null || typeof body === 'string' || Buffer.isBuffer(body);
}

/**
 * Sends pieces as they come, and asks for the next one only when the client has read the previous ones. A failure breaks the connection, so
 * that the client cannot mistake a part for the whole.
 */
export async function sendPieces(
  response: OutboundResponse,
  status: number,
  lines: string,
  { pieces, headOnly }: { readonly pieces: AsyncIterable<string>; readonly headOnly: boolean },
): Promise<void> {
  response.head(status, lines, null);
  try {
    for await (const piece of pieces) {
      // Only pieces that were begun give back what they hold.
      if (headOnly) break;
      if (response.destroyed) return;
      if (!response.write(piece)) await clientReads(response);
      if (response.destroyed) return;
    }
    response.end();
  } catch {
    response.destroy();
  }
}

/** Calls back when the response has been sent or has ended, after the listeners that are there already. */
export function callAfter(response: OutboundResponse, whenSent: () => void): void {
  const { onClose } = response;
  response.onClose = () => {
    onClose?.();
    whenSent();
  };
}
