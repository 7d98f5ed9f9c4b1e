import type { Wire } from '../wire.ts';
import { answerAsStream } from './answer-as-stream.ts';
import { readError, writeError, writeStreamError } from './errors.ts';
import { exactStream } from './exact.ts';
import { PING } from './frames.ts';
import { mendStream } from './mend.ts';
import { peek, texts } from './peek.ts';
import { readAnswer } from './read-answer.ts';
import { readHubAnswer } from './read-hub-answer.ts';
import { readRequest } from './read-request.ts';
import { readStream } from './read-stream.ts';
import { FIRST_VERSION_HEADERS } from './vendor.ts';
import { writeAnswer } from './write-answer.ts';
import { writeHubRequest } from './write-hub-request.ts';
import { writeRequest } from './write-request.ts';
import { writeStream } from './write-stream.ts';

export { countTokens } from './count-tokens.ts';

export const messages: Wire = {
  name: 'messages',
  client: { peek, texts, promptFields: ['system', 'messages'], writeError, writeStreamError, keepAlive: PING },
  relay: {
    path: '/messages',
    headers: FIRST_VERSION_HEADERS,
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
