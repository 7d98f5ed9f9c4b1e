import { COMMENT, writeError, writeStreamError } from '../envelope.ts';
import { readHostError } from '../read-host-error.ts';
import type { Wire } from '../wire.ts';
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

export const chat: Wire = {
  name: 'chat',
  client: { peek, texts, writeError, writeStreamError, keepAlive: COMMENT },
  relay: {
    path: '/chat/completions',
    writeRequest,
    readAnswer,
    readError: readHostError,
    stream: { mend: mendStream, exact: exactStream, answerAsStream },
  },
  hub: {
    client: { readRequest, writeStream, writeAnswer },
    upstream: { writeRequest: writeHubRequest, readStream, readAnswer: readHubAnswer },
  },
};
