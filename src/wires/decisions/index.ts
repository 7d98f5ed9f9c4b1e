import { COMMENT, writeError, writeStreamError } from '../errors/envelope.ts';
import { readHostError } from '../errors/read-host-error.ts';
import type { Wire } from '../wire.ts';
import { peek } from './peek.ts';
import { noteLeftOut, spliceRequest } from './splice-request.ts';
import { spliceResponse } from './splice-response.ts';

/** The newer form of typed decisions: lists where `systemone` has objects by name. Hosts are called on `systemone`. */
export const decisions: Wire = {
  name: 'decisions',
  hostWire: 'systemone',
  client: { peek, writeError, writeStreamError, keepAlive: COMMENT },
  relay: { path: '/systemone', spliceRequest, noteLeftOut, spliceResponse, readError: readHostError },
};
