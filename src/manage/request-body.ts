import { isJsonType } from '../accounts/own-page.ts';
import type { InboundRequest } from '../http1/server.ts';
import { LIMITS } from '../limits.ts';
import { ManageError } from './error.ts';

/** The whole body; null if there is none. */
export async function readManageBody(request: InboundRequest): Promise<Buffer | null> {
  const { headers } = request;
  const length = headers['content-length'];
  const isEmpty = length === undefined ? headers['transfer-encoding'] === undefined : Number(length) === 0;
  if (isEmpty && headers['content-type'] === undefined) return null;
  if (!isJsonType(request)) throw notJson();
  if (length !== undefined && Number(length) > LIMITS.plainBodyBytesMax) throw tooLarge();
  const bytes = request.takeWhole() ?? (await collect(request));
  if (bytes.length > LIMITS.plainBodyBytesMax) throw tooLarge();
  return bytes.length === 0 ? null : bytes;
}

export function notJson(): ManageError {
  return new ManageError(
    415,
    'unsupported_media_type',
    'The body must be JSON: send `content-type: application/json`.',
  );
}

function collect(request: InboundRequest): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    request.read({
      data: (piece) => {
        bytes += piece.length;
        if (bytes > LIMITS.plainBodyBytesMax) reject(tooLarge());
        else pieces.push(piece);
      },
      end: () => resolve(Buffer.concat(pieces)),
      failed: () =>
        reject(
          new ManageError(400, 'invalid_request_body', 'The connection closed before the whole body had arrived.'),
        ),
    });
  });
}

function tooLarge(): ManageError {
  return new ManageError(413, 'request_too_large', `The body is larger than ${LIMITS.plainBodyBytesMax} bytes.`);
}
