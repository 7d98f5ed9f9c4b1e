import { z } from 'zod';
import { ENDINGS } from '../canonical/receipt.ts';
import { modelIdSchema } from '../catalog/schema.ts';
import { LIMITS } from '../limits.ts';
import { INT64_MAX } from '../money/nanousd.ts';
import { CAP_WINDOWS, KEY_PERMISSIONS, ON_UNSUPPORTED } from '../store/store.ts';

/** PostgreSQL stores neither, and SQLite stores every half of a surrogate pair as the same character: two references would be one. */
export const STORABLE = [
  (text: string): boolean => !text.includes('\0') && text.isWellFormed(),
  'must not contain a NUL character or half of a surrogate pair',
] as const;

const NOT_AN_AMOUNT = 'must be a whole number of nanodollars';
const NOT_EXACT = 'has more digits than a JSON number keeps; send it as text, in quotes';

/** A whole number of nanodollars, as text if it is too large for an exact JSON number. */
export const amount = z
  .union([z.int({ abort: true }), z.string().regex(/^-?[0-9]{1,19}$/, NOT_AN_AMOUNT)], {
    error: ({ input }) => (Number.isInteger(input) ? NOT_EXACT : NOT_AN_AMOUNT),
  })
  .transform(BigInt)
  .refine((nanousd) => nanousd <= INT64_MAX && nanousd >= -INT64_MAX, 'is larger than the ledger can hold');

export const cap = amount.refine((nanousd) => nanousd > 0n, 'must be more than 0').nullable();

/** Any printable text that cannot be mistaken for an id. */
export const name = z
  .string()
  .trim()
  .min(1)
  .max(LIMITS.nameCharsMax)
  .regex(/^[^\p{C}]+$/u, 'must not contain control characters')
  .refine((text) => !/^(acct|key)_/.test(text), 'must not look like an id');

const reference = z
  .string()
  .min(1)
  .max(LIMITS.creditReferenceCharsMax)
  .refine(...STORABLE);
const note = z
  .string()
  .max(LIMITS.creditNoteCharsMax)
  .refine(...STORABLE);
const keyNote = z
  .string()
  .trim()
  .min(1)
  .max(LIMITS.keyNoteCharsMax)
  .refine(...STORABLE);
export const idOrName = z.string().min(1).max(LIMITS.nameCharsMax);
export const seconds = z.int().nonnegative();
const models = z.array(modelIdSchema).min(1).max(LIMITS.keyModelsMax).nullable();
const permissions = z.array(z.enum(KEY_PERMISSIONS)).max(KEY_PERMISSIONS.length);
export const page = {
  limit: z.int().min(1).max(LIMITS.storePageRowsMax).default(100),
  after: idOrName.nullable().default(null),
};

export const nothing = z.strictObject({});

export const accountCreation = z.strictObject({ name, kind: z.enum(['prepaid', 'unlimited']).default('prepaid') });

export const accountChoice = z.strictObject({ account: idOrName });

/** Without a version, the account is renamed whatever its version is. */
export const accountRenaming = z.strictObject({
  account: idOrName,
  name,
  version: z.int().nonnegative().optional(),
});

export const accountClosing = z.strictObject({
  account: idOrName,
  /** How long to wait for calls that are still running. */
  wait_seconds: z
    .int()
    .nonnegative()
    .max(LIMITS.accountCloseWaitMs / 1000)
    .default(10),
  note: note.default('Paid out when the account was closed.'),
});

export const accountPage = z.strictObject(page);

export const accountCredit = z.strictObject({
  account: idOrName,
  amount_nanousd: amount,
  reference: reference.nullable().default(null),
  note: note.nullable().default(null),
});

export const entryPage = z.strictObject({ account: idOrName, ...page });

/** Without an amount, what is left of the cost. */
export const receiptRefund = z.strictObject({
  receipt: idOrName,
  amount_nanousd: cap.default(null),
  reference: reference.nullable().default(null),
  note: note.nullable().default(null),
});

export const keyMinting = z.strictObject({
  account: idOrName,
  /** Whose key it is, by id or email address. */
  person: idOrName.nullable().default(null),
  name: name.default('default'),
  spend_cap_nanousd: cap.default(null),
  window: z.enum(CAP_WINDOWS).default('lifetime'),
  expires_at: seconds.nullable().default(null),
  models: models.default(null),
  allow: permissions.default([]),
  on_unsupported: z.enum(ON_UNSUPPORTED).default('refuse'),
  note: keyNote.nullable().default(null),
  max_cost_nanousd: cap.default(null),
});

export const keyPage = z.strictObject({
  account: idOrName.nullable().default(null),
  /** Only the keys of this person, by id or email address. */
  person: idOrName.nullable().default(null),
  ...page,
});

/** The version that the change was made to; without one, nothing is compared. */
const version = z.int().nonnegative().optional();

/** Members that are absent stay unchanged. */
export const keyUpdate = z.strictObject({
  key: idOrName,
  name: name.optional(),
  spend_cap_nanousd: cap.optional(),
  window: z.enum(CAP_WINDOWS).optional(),
  expires_at: seconds.nullable().optional(),
  models: models.optional(),
  allow: permissions.min(1).optional(),
  deny: permissions.min(1).optional(),
  on_unsupported: z.enum(ON_UNSUPPORTED).optional(),
  note: keyNote.nullable().optional(),
  max_cost_nanousd: cap.optional(),
  version,
});

export const keyRotation = z.strictObject({
  key: idOrName,
  /** How long the old secret works. */
  grace_seconds: z
    .int()
    .min(0)
    .max(LIMITS.keyGraceMaxMs / 1000)
    .default(LIMITS.keyGraceMs / 1000),
  version,
});

export const keyChoice = z.strictObject({ key: idOrName });

export const balanceChoice = z.strictObject({ account: idOrName.optional(), key: idOrName.optional() });

export const receiptChoice = z.strictObject({ receipt: idOrName });

/** A month as `2026-05`; becomes the time at which it begins. */
const month = z
  .string()
  .regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'must be a month like 2026-05')
  .transform((text) => Date.parse(`${text}-01T00:00Z`));

export const verification = z.strictObject({
  since: month.nullable().default(null),
  usage: z.boolean().default(true),
});

export const modelFilter = z
  .string()
  .min(1)
  .max(LIMITS.modelIdCharsMax)
  .refine(...STORABLE)
  .nullable()
  .default(null);

export const receiptPage = z.strictObject({
  account: idOrName.nullable().default(null),
  key: idOrName.nullable().default(null),
  /** Only calls with keys of this person, by id or email address. */
  person: idOrName.nullable().default(null),
  since: seconds.nullable().default(null),
  until: seconds.nullable().default(null),
  model: modelFilter,
  route: z
    .string()
    .min(1)
    .max(LIMITS.nameCharsMax)
    .refine(...STORABLE)
    .nullable()
    .default(null),
  status: z.enum(['open', 'settled', 'voided']).nullable().default(null),
  ended: z.enum(ENDINGS).nullable().default(null),
  chain: z
    .string()
    .min(1)
    .max(LIMITS.chainIdCharsMax)
    .refine(...STORABLE)
    .nullable()
    .default(null),
  host: z
    .string()
    .min(1)
    .max(LIMITS.nameCharsMax)
    .refine(...STORABLE)
    .nullable()
    .default(null),
  ...page,
});

/** Seconds of the interface, as the milliseconds of the store. */
export function toMs(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1000;
}
