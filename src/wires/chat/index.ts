import type { Wire } from '../wire.ts';
import { readError, writeError, writeStreamError } from './errors.ts';
import { exactStream } from './exact.ts';
import { mendStream } from './mend.ts';
import { peek, texts } from './peek.ts';
import { answerAsStream, readAnswer } from './read-answer.ts';
import { writeRequest } from './write-request.ts';

export const chat: Wire = {
  name: 'chat',
  client: { peek, texts, writeError, writeStreamError, keepAlive: ': keep-alive\n\n' },
  relay: {
    path: '/chat/completions',
    writeRequest,
    readAnswer,
    readError,
    stream: { mend: mendStream, exact: exactStream, answerAsStream },
  },
};
