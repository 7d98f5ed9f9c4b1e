/** A provider key in custody; one per account and provider. */
export interface NewProviderKey {
  readonly id: bigint;
  readonly accountId: bigint;
  readonly provider: string;
  readonly baseUrl: string;
  readonly lastFour: string;
  readonly sealed: Uint8Array;
  readonly createdMs: number;
  readonly verifiedMs: number;
}

/** A closed account stores no provider keys. `changed`: the row to be replaced was replaced or deleted meanwhile. */
export type ProviderKeyPut = 'stored' | 'account_closed' | 'changed';

export interface ProviderKeyRow extends NewProviderKey {
  /** When the provider began to refuse the key; null if it does not, or was not asked since the key was stored. */
  readonly rejectedMs: number | null;
  /** About when a call last used the key; null if none did. */
  readonly usedMs: number | null;
}

/** A provider's answer to a call with a stored key. */
export interface ProviderKeyUse {
  readonly usedMs: number;
  /** Whether the provider refused the key; absent if the answer does not say. The first refusal's time is kept. */
  readonly rejected?: boolean;
}
