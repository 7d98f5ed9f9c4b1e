import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { z } from 'zod';
import { Secret } from '../kit/secret.ts';
import { LIMITS } from '../limits.ts';
import type { ConfigProblem } from './problems.ts';
import type { ssoSchema } from './sso.ts';

export interface ConfigSso {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Secret;
  readonly allowedDomains: readonly string[];
}

/** The file with the secret is read at start, so that a wrong path is noticed before anybody signs in. */
export function readSso(
  settings: z.output<typeof ssoSchema> | undefined,
  place: { readonly file: string | null; readonly publicUrl: string | undefined; readonly hosted: boolean },
  problems: ConfigProblem[],
): ConfigSso | null {
  if (settings === undefined) return null;
  const source = place.file ?? '';
  if (!place.hosted || place.publicUrl?.startsWith('https:') !== true)
    problems.push({ source, path: 'sso', message: 'needs hosted mode and a `public_url` with https' });
  const clientSecret = readSecret(resolve(dirname(source), settings.client_secret_file));
  if (typeof clientSecret === 'string') {
    problems.push({ source, path: 'sso.client_secret_file', message: clientSecret });
    return null;
  }
  const { issuer, client_id: clientId, allowed_domains: allowedDomains } = settings;
  return { issuer, clientId, clientSecret, allowedDomains };
}

/** The secret, or why there is none. */
function readSecret(file: string): Secret | string {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return text === '' || text.length > LIMITS.providerKeyCharsMax
      ? 'must name a file with the secret and nothing else'
      : new Secret(text);
  } catch (error) {
    return `names a file that cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`;
  }
}
