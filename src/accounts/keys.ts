import { hash } from 'node:crypto';
import { checksum6, randomBase62 } from '../kit/ids.ts';
import { Secret } from '../kit/secret.ts';

/** The start of every gateway key. */
const FAMILY = 'tg_';
const PREFIX = `${FAMILY}live_`;
/** Gives access to the management API and cannot pay for calls. */
const MANAGEMENT_PREFIX = `${FAMILY}mgmt_`;
const RANDOM_CHARACTERS = 32;
const CHECKSUM_CHARACTERS = 6;
const SHAPE = shapeOf(PREFIX);
const MANAGEMENT_SHAPE = shapeOf(MANAGEMENT_PREFIX);
/** Enough to tell keys apart in a list, too few to help guess the rest. */
const SHOWN_CHARACTERS = 4;

/** A new key. The secret is shown once and not stored; the other members are stored. */
interface MintedKey {
  readonly secret: Secret;
  readonly sha256Hex: string;
  readonly prefix: string;
  readonly lastFour: string;
}

export function mintSecret(): MintedKey {
  return mintWith(PREFIX);
}

export function mintManagementSecret(): MintedKey {
  return mintWith(MANAGEMENT_PREFIX);
}

function mintWith(prefix: string): MintedKey {
  const body = prefix + randomBase62(RANDOM_CHARACTERS);
  const text = body + checksum6(body);
  return {
    secret: new Secret(text),
    sha256Hex: hashSecret(text),
    prefix: text.slice(0, prefix.length + SHOWN_CHARACTERS),
    lastFour: text.slice(-SHOWN_CHARACTERS),
  };
}

/** Also true for a truncated or mistyped gateway key. */
export function looksLikeKey(text: string): boolean {
  return text.startsWith(FAMILY);
}

/** Cheap: does not verify the checksum. */
export function hasKeyShape(text: string): boolean {
  return SHAPE.test(text);
}

/** Whether it has the shape and the checksum of a management key's secret. */
export function isManagementSecret(text: string): boolean {
  return MANAGEMENT_SHAPE.test(text) && checksumFits(text);
}

/** False for a mistyped key, which needs no lookup. */
export function checksumFits(shaped: string): boolean {
  return checksum6(shaped.slice(0, -CHECKSUM_CHARACTERS)) === shaped.slice(-CHECKSUM_CHARACTERS);
}

export function hashSecret(secret: string): string {
  return hash('sha256', secret);
}

/** How a key is shown in lists: `tg_live_ab12…wxyz`. */
export function describeKey(key: { readonly prefix: string; readonly lastFour: string }): string {
  return `${key.prefix}…${key.lastFour}`;
}

function shapeOf(prefix: string): RegExp {
  return new RegExp(`^${prefix}[0-9A-Za-z]{${RANDOM_CHARACTERS + CHECKSUM_CHARACTERS}}$`);
}
