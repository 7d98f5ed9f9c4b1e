import { COMMENT, writeError } from '../envelope.ts';
import type { Wire } from '../wire.ts';
import { readError, writeStreamError } from './errors.ts';
import { exactStream } from './exact.ts';
import { mendStream } from './mend.ts';
import { peek, texts } from './peek.ts';
import { answerAsStream, readAnswer } from './read-answer.ts';
import { readHubAnswer } from './read-hub-answer.ts';
import { readRequest } from './read-request.ts';
import { readStream } from './read-stream.ts';
import { writeAnswer } from './write-answer.ts';
import { writeHubRequest } from './write-hub-request.ts';
import { writeRequest } from './write-request.ts';
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
