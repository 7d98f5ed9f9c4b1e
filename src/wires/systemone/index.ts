import { COMMENT, writeError, writeStreamError } from '../errors/envelope.ts';
import { readHostError } from '../errors/read-host-error.ts';
import type { Wire } from '../wire.ts';
import { peek } from './peek.ts';
import { spliceRequest } from './splice-request.ts';
import { spliceResponse } from './splice-response.ts';

/** Program state plus typed questions in, typed answers with probabilities out. */
export const systemone: Wire = {
  name: 'systemone',
  client: { peek, writeError, writeStreamError, keepAlive: COMMENT },
  relay: { path: '/systemone', spliceRequest, spliceResponse, readError: readHostError },
};
