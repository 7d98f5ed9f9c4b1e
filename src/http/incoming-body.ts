import { GatewayError } from '../canonical/errors.ts';
import { overloaded } from '../gateway/guards/load.ts';
import type { InboundRequest } from '../http1/server.ts';
import { BodyLines } from './body-lines.ts';
import { type BodyRoom, readRequestBody } from './request-body.ts';
import type { IncomingBody } from './routes.ts';

/** Lets a route read its body itself. A body that is read by lines takes the memory of one slice, however long it is. */
export function incomingBody(request: InboundRequest, room: BodyRoom): IncomingBody {
  return {
    lines(limits) {
      const length = request.headers['content-length'];
      if (length !== undefined && Number(length) > limits.bytesMax)
        throw new GatewayError('request_too_large', {
          message: `The body is larger than ${limits.bytesMax} bytes. Split it into several groups.`,
        });
      if (!room.takeRoom(limits.sliceBytes)) throw overloaded();
      if (request.headers.expect !== undefined && !request.complete) room.sendContinue();
      return new BodyLines(request, limits);
    },
    whole(bytesMax) {
      return new Promise((resolve, reject) =>
        readRequestBody(request, { ...room, bytesMax }, (body) =>
          body instanceof GatewayError ? reject(body) : resolve(body),
        ),
      );
    },
  };
}
