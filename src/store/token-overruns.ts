/** The most tokens of a model that one counted token was for an account's prompts, beyond what was held. */
export interface TokenOverrun {
  readonly model: string;
  readonly accountId: bigint;
  readonly factor: number;
  readonly notedMs: number;
}
