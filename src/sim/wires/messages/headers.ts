import type { IncomingHttpHeaders } from 'node:http';
import type { SimHost } from '../../reply.ts';
import { reject } from './errors.ts';

const VERSIONS = ['2023-06-01', '2026-10-21'] as const;
export type MessagesVersion = (typeof VERSIONS)[number];

/** The header that identifies this vendor's clients. */
export function versionIn(headers: IncomingHttpHeaders): string | undefined {
  return headers['anthropic-version'] as string | undefined;
}

export function readVersion(headers: IncomingHttpHeaders): MessagesVersion {
  const version = versionIn(headers);
  if (version === undefined) return reject('anthropic-version: header is required');
  const known = VERSIONS.find((one) => one === version);
  return known ?? reject(`anthropic-version: "${version}" is not a valid version`);
}

export function hasBeta(headers: IncomingHttpHeaders, prefix: string): boolean {
  const betas = String(headers['anthropic-beta'] ?? '').split(',');
  return betas.some((beta) => beta.trim().startsWith(prefix));
}

/** As on the other wires, headers that a gateway must not forward. */
const VENDOR_HEADERS = {
  'anthropic-organization-id': '00000000-0000-4000-8000-000000000000',
  'set-cookie': 'simulated=1; path=/; HttpOnly',
  'anthropic-ratelimit-requests-limit': '4000',
  'anthropic-ratelimit-requests-remaining': '3999',
  'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:00Z',
  'anthropic-ratelimit-input-tokens-limit': '2000000',
  'anthropic-ratelimit-input-tokens-remaining': '1999000',
};

export function vendorHeaders(host: SimHost): Record<string, string> {
  return { ...VENDOR_HEADERS, 'request-id': host.mintId('req_') };
}
