import type { SimHost } from '../reply.ts';

/** Hosts send headers of their own that a gateway must not hand on, so the simulator does too. */
const VENDOR_HEADERS = {
  'x-organization': 'simulated-org',
  'set-cookie': 'simulated=1; path=/; HttpOnly',
  'x-ratelimit-limit-requests': '10000',
  'x-ratelimit-remaining-requests': '9999',
};

export function hostHeaders(host: SimHost): Record<string, string> {
  return { ...VENDOR_HEADERS, 'x-request-id': host.mintId('req_') };
}
