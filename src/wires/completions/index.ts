import { COMMENT, writeError, writeStreamError } from '../errors/envelope.ts';
import { readHostError } from '../errors/read-host-error.ts';
import { mayLoseBudget } from '../fields/lost-budget.ts';
import { noteWithheldEffort } from '../fields/lost-effort.ts';
import type { Wire } from '../wire.ts';
import { mendStream } from './mend.ts';
import { peek } from './peek.ts';
import { readRequest } from './read-request.ts';
import { spliceRequest } from './splice-request.ts';
import { responseAsStream, spliceResponse } from './splice-response.ts';
import { writeResponse } from './write-response.ts';
import { isText, writeStream } from './write-stream.ts';

/** Text completion. Few hosts speak this wire; chat models are reached by translation. */
export const completions: Wire = {
  name: 'completions',
  needs: 'completions',
  client: { peek, writeError, writeStreamError, keepAlive: COMMENT },
  relay: {
    path: '/completions',
    spliceRequest,
    mayRefuse: mayLoseBudget,
    noteLeftOut: noteWithheldEffort,
    spliceResponse,
    readError: readHostError,
    stream: { mend: mendStream, responseAsStream },
  },
  hub: { client: { readRequest, writeStream, writeResponse, shows: isText } },
};
