import { COMMENT, writeError, writeStreamError } from '../errors/envelope.ts';
import { readHostError } from '../errors/read-host-error.ts';
import { mayLoseBudget } from '../fields/lost-budget.ts';
import { noteWithheldEffort } from '../fields/lost-effort.ts';
import type { Wire } from '../wire.ts';
import { mendStream } from './mend.ts';
import { peek } from './peek.ts';
import { readRequest } from './read-request.ts';
import { readResponse } from './read-response.ts';
import { readStream } from './read-stream.ts';
import { spliceRequest } from './splice-request.ts';
import { responseAsStream, spliceResponse } from './splice-response.ts';
import { writeRequest } from './write-request.ts';
import { writeResponse } from './write-response.ts';
import { writeStream } from './write-stream.ts';

export const chat: Wire = {
  name: 'chat',
  client: { peek, writeError, writeStreamError, keepAlive: COMMENT },
  relay: {
    path: '/chat/completions',
    spliceRequest,
    mayRefuse: mayLoseBudget,
    noteLeftOut: noteWithheldEffort,
    spliceResponse,
    readError: readHostError,
    stream: { mend: mendStream, responseAsStream },
  },
  hub: {
    client: { readRequest, writeStream, writeResponse },
    upstream: { writeRequest, readStream, readResponse },
  },
};
