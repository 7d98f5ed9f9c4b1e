import { COMMENT, writeError, writeStreamError } from '../errors/envelope.ts';
import { readHostError } from '../errors/read-host-error.ts';
import type { Wire } from '../wire.ts';
import { peek } from './peek.ts';
import { spliceRequest } from './splice-request.ts';
import { spliceResponse } from './splice-response.ts';

/** The newer spelling of typed decisions, from the same core: lists where the older one has objects by name. */
export const decisions: Wire = {
  name: 'decisions',
  spells: 'systemone',
  client: { peek, texts: () => [], writeError, writeStreamError, keepAlive: COMMENT },
  relay: { path: '/systemone', spliceRequest, spliceResponse, readError: readHostError },
};
