import { COMMENT, writeError, writeStreamError } from '../envelope.ts';
import { readHostError } from '../read-host-error.ts';
import type { Wire } from '../wire.ts';
import { peek } from './peek.ts';
import { readAnswer } from './read-answer.ts';
import { writeRequest } from './write-request.ts';

/** Program state plus typed questions in, typed answers with probabilities out. */
export const systemone: Wire = {
  name: 'systemone',
  client: { peek, texts: () => [], writeError, writeStreamError, keepAlive: COMMENT },
  relay: { path: '/systemone', writeRequest, readAnswer, readError: readHostError },
};
