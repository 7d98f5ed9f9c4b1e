import { COMMENT, writeError } from '../errors/envelope.ts';
import { mayLoseBudget } from '../fields/lost-budget.ts';
import type { Wire } from '../wire.ts';
import { readError, writeStreamError } from './errors.ts';
import { inputTokens } from './input-tokens.ts';
import { noteLeftOut } from './left-out.ts';
import { mendStream } from './mend.ts';
import { peek } from './peek.ts';
import { FIELD_NAMES, readRequest } from './read-request.ts';
import { readResponse } from './read-response.ts';
import { readStream } from './read-stream.ts';
import { spliceRequest } from './splice-request.ts';
import { responseAsStream, spliceResponse } from './splice-response.ts';
import { writeRequest } from './write-request.ts';
import { writeResponse } from './write-response.ts';
import { writeStream } from './write-stream.ts';

export const responses: Wire = {
  name: 'responses',
  counter: inputTokens,
  client: { peek, promptFields: ['instructions', 'input'], writeError, writeStreamError, keepAlive: COMMENT },
  relay: {
    path: '/responses',
    spliceRequest,
    mayRefuse: mayLoseBudget,
    noteLeftOut,
    spliceResponse,
    readError,
    stream: { mend: mendStream, responseAsStream },
  },
  hub: {
    client: { readRequest, fieldNames: FIELD_NAMES, writeStream, writeResponse },
    upstream: { writeRequest, readStream, readResponse },
  },
};
