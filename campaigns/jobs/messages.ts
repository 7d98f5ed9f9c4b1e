import type { OnUnknown } from '../../src/jobs/jobs.ts';
import type { KillPoint } from './points.ts';

/**
 * What a campaign and the gateway that it kills say to each other. Ids and amounts are strings, because a message
 * cannot contain a bigint.
 */
export interface VictimTerms {
  readonly folder: string;
  readonly hostUrl: string;
  /** Null: SQLite in the folder. */
  readonly storeUrl: string | null;
  readonly masterKey: string;
}

export interface PayerName {
  readonly accountId: string;
  readonly keyId: string;
}

export type VictimRequest =
  | { readonly kind: 'open' | 'stop' }
  | { readonly kind: 'audit'; readonly accountId: string }
  | { readonly kind: 'arm'; readonly point: KillPoint; readonly left: number }
  | { readonly kind: 'submit'; readonly payer: PayerName; readonly label: string; readonly onUnknown: OnUnknown };

export interface JobRow {
  readonly label: string;
  readonly state: string;
  readonly attempts: number;
  readonly errorCode: string | null;
  readonly costNanousd: string;
  /** The cost that the stored response names; null without one. */
  readonly resultNanousd: string | null;
}

export type VictimAnswer =
  | { readonly kind: 'ready' | 'armed' }
  | { readonly kind: 'account'; readonly payer: PayerName; readonly creditNanousd: string }
  | { readonly kind: 'accepted'; readonly label: string }
  | {
      readonly kind: 'audit';
      readonly rows: readonly JobRow[];
      readonly balanceNanousd: string;
      /** Held and reserved. */
      readonly boundNanousd: string;
      readonly faults: readonly string[];
    }
  | { readonly kind: 'failed'; readonly message: string };
