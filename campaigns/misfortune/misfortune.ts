import type { Round } from './round.ts';

/** Something that goes wrong around a gateway under load. */
export interface Misfortune {
  readonly name: string;
  /** Why this machine cannot bring it about, in words that follow its name; null if it can. */
  whyNot(): string | null;
  /** Brings it about once, and compares the ledger with what clients saw. */
  play(round: Round): Promise<void>;
}
