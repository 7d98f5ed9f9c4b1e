import { createHmac, randomBytes } from 'node:crypto';
import { Secret } from '../kit/secret.ts';

const SECRET_PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** A new secret, in the form of the Standard Webhooks specification. */
export function newWebhookSecret(): Secret {
  return new Secret(SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64'));
}

/**
 * The headers of https://www.standardwebhooks.com. There is one signature for each secret that is valid: a receiver that
 * knows any of them can verify the delivery.
 */
export function signedHeaders(
  id: string,
  timestampS: number,
  body: string,
  secrets: readonly Secret[],
): Record<string, string> {
  const signatures = secrets.map((secret) => `v1,${signatureOf(`${id}.${timestampS}.${body}`, secret)}`);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestampS),
    'webhook-signature': signatures.join(' '),
  };
}

function signatureOf(content: string, secret: Secret): string {
  const key = Buffer.from(secret.reveal().slice(SECRET_PREFIX.length), 'base64');
  return createHmac('sha256', key).update(content).digest('base64');
}
