import { COMMENT, writeError, writeStreamError } from '../errors/envelope.ts';
import { readHostError } from '../errors/read-host-error.ts';
import type { Wire } from '../wire.ts';
import { peek } from './peek.ts';
import { spliceRequest } from './splice-request.ts';
import { spliceResponse } from './splice-response.ts';

export const embeddings: Wire = {
  name: 'embeddings',
  client: { peek, writeError, writeStreamError, keepAlive: COMMENT },
  relay: { path: '/embeddings', spliceRequest, spliceResponse, readError: readHostError },
};
