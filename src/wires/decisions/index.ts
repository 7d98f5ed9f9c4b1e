import { COMMENT, writeError, writeStreamError } from '../envelope.ts';
import { readHostError } from '../read-host-error.ts';
import type { Wire } from '../wire.ts';
import { peek } from './peek.ts';
import { readAnswer } from './read-answer.ts';
import { writeRequest } from './write-request.ts';

/** The newer spelling of typed decisions, from the same core: lists where the older one has objects by name. */
export const decisions: Wire = {
  name: 'decisions',
  spells: 'systemone',
  client: { peek, texts: () => [], writeError, writeStreamError, keepAlive: COMMENT },
  relay: { path: '/systemone', writeRequest, readAnswer, readError: readHostError },
};
