import type { Wire } from '../wire.ts';
import { countTokens } from './count-tokens.ts';
import { readError, statusOf, writeError, writeStreamError } from './errors.ts';
import { PING } from './frames.ts';
import { mendStream } from './mend.ts';
import { peek } from './peek.ts';
import { FIELD_NAMES, readRequest } from './read-request.ts';
import { readResponse } from './read-response.ts';
import { readStream } from './read-stream.ts';
import { responseAsStream } from './response-as-stream.ts';
import { mayRefuse, noteThinking, spliceRequest } from './splice-request.ts';
import { spliceResponse } from './splice-response.ts';
import { FIRST_VERSION_HEADERS, VENDOR_HEADERS } from './vendor-headers.ts';
import { writeRequest } from './write-request.ts';
import { writeResponse } from './write-response.ts';
import { writeStream } from './write-stream.ts';

export const messages: Wire = {
  name: 'messages',
  counter: countTokens,
  client: {
    peek,
    readsHeaders: VENDOR_HEADERS,
    promptFields: ['system', 'messages'],
    writeError,
    statusOf,
    writeStreamError,
    keepAlive: PING,
  },
  relay: {
    path: '/messages',
    headers: FIRST_VERSION_HEADERS,
    spliceRequest,
    mayRefuse,
    noteLeftOut: noteThinking,
    spliceResponse,
    readError,
    stream: { mend: mendStream, responseAsStream },
  },
  hub: {
    client: { readRequest, fieldNames: FIELD_NAMES, writeStream, writeResponse },
    upstream: { writeRequest, readStream, readResponse },
  },
};
