import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../canonical/errors.ts';
import { LIMITS } from '../../limits.ts';

/** The name that aggregators use for signatures and redacted blocks of this wire's vendor; only these go to its hosts. */
export const VENDOR = 'anthropic-claude-v1';

const VERSIONS: readonly string[] = ['2023-06-01', '2026-10-21'];
/** The older version. It is the default, and translated requests use it, since it still accepts sampling fields. */
const FIRST_VERSION = VERSIONS[0]!;

const VERSION_HEADER = 'anthropic-version';
/** The vendor's header name, and a neutral one. */
const VERSION_SPELLINGS = [VERSION_HEADER, 'messages-version'];
const BETA_HEADER = 'anthropic-beta';

/** Every header that changes a request of this wire. */
export const VENDOR_HEADERS: readonly string[] = [...VERSION_SPELLINGS, BETA_HEADER];

export const FIRST_VERSION_HEADERS: Readonly<Record<string, string>> = { [VERSION_HEADER]: FIRST_VERSION };

/** The caller's version and betas, as headers for a host of this wire. */
export function readHostHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const version = readVersion(headers);
  const betas = readBetas(headers[BETA_HEADER]);
  return betas === '' ? { [VERSION_HEADER]: version } : { [VERSION_HEADER]: version, [BETA_HEADER]: betas };
}

/** Reads the version header; throws for an unknown version and names the known ones. */
export function readVersion(headers: IncomingHttpHeaders): string {
  let version: string | null = null;
  for (const name of VERSION_SPELLINGS) {
    const value = headers[name];
    if (value === undefined) continue;
    if (!VERSIONS.includes(String(value))) {
      throw invalidHeader(name, `\`${name}\` must be one of ${VERSIONS.join(', ')}.`);
    }
    if (version !== null && version !== value) {
      throw invalidHeader(name, `${VERSION_SPELLINGS.map((one) => `\`${one}\``).join(' and ')} differ; send one.`);
    }
    version = String(value);
  }
  return version ?? FIRST_VERSION;
}

/** Betas that enlarge the context window are removed: the hold covers the catalog's window only. */
const WIDER_WINDOW = /^context-1m-/;
const HEADER_TEXT = /^[\x20-\x7e]*$/;

/** Unknown betas are passed on; the host checks them. */
function readBetas(value: string | string[] | undefined): string {
  const text = String(value ?? '');
  if (text.length > LIMITS.betaHeaderCharactersMax || !HEADER_TEXT.test(text)) {
    throw invalidHeader(
      BETA_HEADER,
      `\`${BETA_HEADER}\` must be at most ${LIMITS.betaHeaderCharactersMax} characters.`,
    );
  }
  const names = text.split(',').map((name) => name.trim());
  return names.filter((name) => name !== '' && !WIDER_WINDOW.test(name)).join(',');
}

function invalidHeader(param: string, message: string): GatewayError {
  return new GatewayError('invalid_header', { param, message });
}
