import type {
  JSONObject,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import { type FallbackAnswer, fallback, type Member, type MemberSpec, retryingFetch } from '@tollgate/client';
import { receiptMetadata } from './call-metadata.ts';
import { providerFor, type TollgateSettings } from './settings.ts';

export interface FallbackModelOptions {
  /** The most that all attempts of one call together may cost, in nanodollars. */
  readonly budget?: bigint | undefined;
}

/**
 * A model that stands for several: each call is a chain. It throws a FallbackError, which the AI SDK does not retry, so that a
 * failed chain is not made twice.
 */
export class FallbackModel implements LanguageModelV4 {
  readonly specificationVersion = 'v4';
  readonly provider = 'tollgate.fallback';
  readonly modelId: string;
  readonly supportedUrls = {};
  readonly #settings: TollgateSettings;
  readonly #members: readonly MemberSpec[];
  readonly #options: FallbackModelOptions;

  constructor(settings: TollgateSettings, members: readonly MemberSpec[], options: FallbackModelOptions) {
    this.modelId = members.map((member) => (typeof member === 'string' ? member : member.model)).join(',');
    this.#settings = settings;
    this.#members = members;
    this.#options = options;
  }

  async doGenerate(options: LanguageModelV4CallOptions): Promise<LanguageModelV4GenerateResult> {
    const answer = await this.#chain(options, (member) => this.#model(member).doGenerate(options));
    const { providerMetadata = {} } = answer.data;
    const tollgate = { ...providerMetadata.tollgate, ...chainMetadata(answer) };
    return { ...answer.data, providerMetadata: { ...providerMetadata, tollgate } };
  }

  async doStream(options: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult> {
    let answer: FallbackAnswer<unknown> | null = null;
    // Read at the end of the stream, long after the chain has chosen its member.
    const ofChain = () => (answer === null ? {} : chainMetadata(answer));
    const made = await this.#chain(options, (member) => this.#model(member, ofChain).doStream(options));
    answer = made;
    return made.data;
  }

  #chain<Result>({ abortSignal }: LanguageModelV4CallOptions, call: (member: Member) => PromiseLike<Result>) {
    const { budget } = this.#options;
    const { fetch } = this.#settings;
    return fallback(this.#members, call, { budget, signal: abortSignal, fetch });
  }

  /** Models of this SDK do not retry, so the last member's `fetch` does. */
  #model(member: Member, ofChain: () => JSONObject = () => ({})): LanguageModelV4 {
    const fetch = member.isLast ? retryingFetch(member.fetch) : member.fetch;
    const read = () => ({ ...receiptMetadata(member.receipts.at(-1)), ...ofChain() });
    return providerFor(this.#settings, fetch, read).chatModel(member.model);
  }
}

function chainMetadata({ chain, spent, attempts }: FallbackAnswer<unknown>): JSONObject {
  return { chain, spentNanousd: String(spent), attempts: attempts.map(({ model }) => model) };
}
