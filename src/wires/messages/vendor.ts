import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../../canonical/errors.ts';
import { LIMITS } from '../../limits.ts';

/** The tag of this wire's own signatures and redacted blocks, as aggregators spell it; only they go to its hosts. */
export const VENDOR = 'anthropic-claude-v1';

export const VERSIONS: readonly string[] = ['2023-06-01', '2026-10-21'];
/** The elder version: absent means it, and requests we write ourselves name it, since it still takes sampling. */
const FIRST_VERSION = VERSIONS[0]!;

const VERSION_HEADER = 'anthropic-version';
/** The vendor's spelling, and the one that names no vendor. */
const VERSION_SPELLINGS = [VERSION_HEADER, 'messages-version'];
const BETA_HEADER = 'anthropic-beta';

export const FIRST_VERSION_HEADERS: Readonly<Record<string, string>> = { [VERSION_HEADER]: FIRST_VERSION };

/** The caller's version and betas, as a host of this wire is to see them. */
export function readHostHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const version = readVersion(headers);
  const betas = readBetas(headers[BETA_HEADER]);
  return betas === '' ? { [VERSION_HEADER]: version } : { [VERSION_HEADER]: version, [BETA_HEADER]: betas };
}

/** The version a caller names; throws, naming those there are, for any other. */
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

/** A larger window than the catalog's would go beyond what the hold pays; where it is the model's own, nothing is lost. */
const WIDER_WINDOW = /^context-1m-/;
const HEADER_TEXT = /^[\x20-\x7e]*$/;

/** Unknown betas are the host's to judge. */
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
