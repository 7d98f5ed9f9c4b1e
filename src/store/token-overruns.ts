/** The most tokens of a model for one counted token in an account's prompts, if that was more than was held. */
export interface TokenOverrun {
  readonly model: string;
  readonly accountId: bigint;
  readonly factor: number;
  readonly notedMs: number;
}
