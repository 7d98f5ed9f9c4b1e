import type { SimHost } from '../reply.ts';

/** Headers that hosts send and a gateway must not forward. */
const VENDOR_HEADERS = {
  'x-organization': 'simulated-org',
  'set-cookie': 'simulated=1; path=/; HttpOnly',
  'x-ratelimit-limit-requests': '10000',
  'x-ratelimit-remaining-requests': '9999',
};

export function hostHeaders(host: SimHost): Record<string, string> {
  return { ...VENDOR_HEADERS, 'x-request-id': host.mintId('req_') };
}
