import { LIMITS } from '../../limits.ts';
import { isAbsent, type Members } from './members.ts';
import { missing, mustBe } from './request-errors.ts';

export function readModel({ model }: Members): string {
  if (isAbsent(model)) throw missing('model', '`model` is missing; GET /v1/models lists what this key may use.');
  if (typeof model !== 'string' || model === '' || model.length > LIMITS.modelIdCharsMax) {
    throw mustBe('model', `a string of 1 to ${LIMITS.modelIdCharsMax} characters`);
  }
  return model;
}
