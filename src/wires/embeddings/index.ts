import { COMMENT, writeError, writeStreamError } from '../envelope.ts';
import { readHostError } from '../read-host-error.ts';
import type { Wire } from '../wire.ts';
import { peek, texts } from './peek.ts';
import { readAnswer } from './read-answer.ts';
import { writeRequest } from './write-request.ts';

export const embeddings: Wire = {
  name: 'embeddings',
  client: { peek, texts, writeError, writeStreamError, keepAlive: COMMENT },
  relay: { path: '/embeddings', writeRequest, readAnswer, readError: readHostError },
};
