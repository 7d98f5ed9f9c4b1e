import { COMMENT, writeError } from '../errors/envelope.ts';
import type { Wire } from '../wire.ts';
import { readError, writeStreamError } from './errors.ts';
import { exactStream } from './exact.ts';
import { mendStream } from './mend.ts';
import { peek, texts } from './peek.ts';
import { readRequest } from './read-request.ts';
import { readHubAnswer } from './read-response.ts';
import { readStream } from './read-stream.ts';
import { writeRequest } from './splice-request.ts';
import { answerAsStream, readAnswer } from './splice-response.ts';
import { writeHubRequest } from './write-request.ts';
import { writeAnswer } from './write-response.ts';
import { writeStream } from './write-stream.ts';

export const responses: Wire = {
  name: 'responses',
  client: { peek, texts, promptFields: ['instructions', 'input'], writeError, writeStreamError, keepAlive: COMMENT },
  relay: {
    path: '/responses',
    writeRequest,
    readAnswer,
    readError,
    stream: { mend: mendStream, exact: exactStream, answerAsStream },
  },
  hub: {
    client: { readRequest, writeStream, writeAnswer },
    upstream: { writeRequest: writeHubRequest, readStream, readAnswer: readHubAnswer },
  },
};
