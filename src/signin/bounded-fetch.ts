import type { CustomFetch } from 'openid-client';
import { LIMITS } from '../limits.ts';

/** Statuses whose responses have no body; `Response` refuses one. */
const WITHOUT_BODY = new Set([101, 204, 205, 304]);

/** Reads the provider's whole answer, which is short. One that goes on must not fill the memory until the time is up. */
export const boundedFetch: CustomFetch = async (url, options) => {
  const response = await fetch(url, options as RequestInit);
  const { status, statusText, headers } = response;
  const body = WITHOUT_BODY.has(status) ? null : await readBody(response);
  return new Response(body, { status, statusText, headers });
};

async function readBody({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop cancels the rest.
  for await (const piece of body ?? []) {
    bytes += piece.length;
    if (bytes > LIMITS.ssoAnswerBytesMax) throw new Error('The response of the single sign-on provider is too long.');
    pieces.push(piece);
  }
  return new Uint8Array(Buffer.concat(pieces));
}
