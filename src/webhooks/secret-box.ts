import { Secret } from '../kit/secret.ts';
import type { WebhookSecret } from '../store/webhooks.ts';

/** Encrypts bytes so that only this gateway can decrypt them, and only with the same associated values. */
export interface SecretSealer {
  seal(plain: Uint8Array, associated: readonly string[]): Uint8Array;
  open(sealed: Uint8Array, associated: readonly string[]): Uint8Array | null;
}

type Place = Pick<WebhookSecret, 'id' | 'webhookId' | 'accountId'>;

/** What a secret's encryption is bound to: copied to another row, webhook or account, it cannot be decrypted. */
export function secretPlace({ id, webhookId, accountId }: Place): readonly string[] {
  return ['webhook secret', accountId === null ? 'operator' : String(accountId), String(webhookId), String(id)];
}

export function sealSecret(sealer: SecretSealer, secret: Secret, place: Place): Uint8Array {
  return sealer.seal(Buffer.from(secret.reveal()), secretPlace(place));
}

/** Null if its master key is missing or the row was changed. */
export function openSecret(sealer: SecretSealer, row: WebhookSecret): Secret | null {
  const opened = sealer.open(row.sealed, secretPlace(row));
  return opened === null ? null : new Secret(Buffer.from(opened).toString());
}
