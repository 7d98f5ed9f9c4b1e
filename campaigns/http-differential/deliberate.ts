import { METHODS } from 'node:http';
import type { Accepted } from './compare.ts';
import { BEHIND_UPGRADE } from './node-requests.ts';

/** Something that we accept and Node refuses, on purpose. */
export interface DeliberateDifference {
  readonly name: string;
  readonly reason: string;
  covers(refusal: string, accepted: Accepted): boolean;
}

export const REQUEST_DIFFERENCES: readonly DeliberateDifference[] = [
  {
    name: 'a method that Node has no name for',
    reason: 'RFC 9110 lets a method be any token; the router answers 404 or 405, which says more than 400.',
    covers: (refusal, { method }) =>
      !METHODS.includes(method) && refusal === (method === 'PRI' ? 'HPE_INVALID_VERSION' : 'HPE_INVALID_METHOD'),
  },
  {
    name: 'a request behind one that offered an upgrade',
    reason: 'RFC 9110 lets a server ignore Upgrade and stay with HTTP/1.1; Node drops what follows on the connection.',
    covers: (refusal) => refusal === BEHIND_UPGRADE,
  },
];

export const ANSWER_DIFFERENCES: readonly DeliberateDifference[] = [];
