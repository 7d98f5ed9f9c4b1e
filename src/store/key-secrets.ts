import type { AuditRow } from './people.ts';

/** A secret as it is stored: its hash, and the characters that lists show of it. */
interface StoredSecret {
  readonly sha256Hex: string;
  readonly prefix: string;
  readonly lastFour: string;
}

/** The secret that a key had before its current one. */
export interface ReplacedSecret {
  readonly sha256Hex: string;
  /** It works until then. */
  readonly expiresMs: number;
}

export interface Rotation {
  readonly secret: StoredSecret;
  readonly oldExpiresMs: number;
  /** The version of the key that is rotated; without one, nothing is compared. */
  readonly version?: bigint;
}

export interface KeyRotation {
  /**
   * Gives the key another secret in one commit. The previous one works until it expires, and any older one ends now, so
   * that a key has at most two.
   */
  rotateKey(id: bigint, rotation: Rotation, audit?: AuditRow): Promise<RotationOutcome>;
}

/** `not_allowed`: whoever makes the change may no longer make it. */
export type RotationOutcome = 'rotated' | 'no_key' | 'revoked' | 'version_conflict' | 'not_allowed';

/** Whether a secret with this hash is the key's current one, or one that was replaced and still works. */
export function isSecretOf(
  key: { readonly sha256Hex: string; readonly replaced: ReplacedSecret | null },
  sha256Hex: string,
  nowMs: number,
): boolean {
  if (key.sha256Hex === sha256Hex) return true;
  return key.replaced !== null && key.replaced.sha256Hex === sha256Hex && key.replaced.expiresMs > nowMs;
}
