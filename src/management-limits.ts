/** Limits of people, their sign-in and the management API. */
export const MANAGEMENT_LIMITS = {
  emailCharsMax: 254,
  /** How long the link of an invitation works. */
  invitationMs: 24 * 60 * 60_000,
  managementKeyDaysMax: 366,
  /** How long the old secret of a key works after a rotation, unless the operator says otherwise, and at most. */
  keyGraceMs: 24 * 60 * 60_000,
  keyGraceMaxMs: 30 * 24 * 60 * 60_000,
  managementSecretCharsMax: 200,
  /** How exactly the last use of a management key is known. */
  managementUseMs: 60_000,
} as const;
