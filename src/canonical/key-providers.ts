/** Providers whose keys callers may store. Receipts of calls to callers' own deployments have this name as their host. */
export const KEY_PROVIDERS = ['cloud'] as const;
export type KeyProvider = (typeof KEY_PROVIDERS)[number];
