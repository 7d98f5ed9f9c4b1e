import type { OpenAICompatibleProvider } from '@ai-sdk/openai-compatible';
import type {
  EmbeddingModelV4,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import { type MemberSpec, meteredFetch } from '@tollgate/client';
import { receiptMetadata } from './call-metadata.ts';
import { FallbackModel, type FallbackModelOptions } from './fallback-model.ts';
import { providerFor, type TollgateSettings } from './settings.ts';
import { heedingHeader } from './should-retry.ts';

export type { TollgateSettings };

export interface TollgateProvider {
  (modelId: string): LanguageModelV4;
  languageModel(modelId: string): LanguageModelV4;
  embeddingModel(modelId: string): EmbeddingModelV4;
  /** A model that asks the next of the list if one fails, by the rules of `fallback`. */
  fallbackModel(members: readonly MemberSpec[], options?: FallbackModelOptions): LanguageModelV4;
}

/** A provider whose models report what a call cost, in `providerMetadata.tollgate`. */
export function createTollgate(settings: TollgateSettings): TollgateProvider {
  const languageModel = (modelId: string) => new MeteredModel(settings, modelId);
  return Object.assign((modelId: string) => languageModel(modelId), {
    languageModel,
    embeddingModel: (modelId: string) => embeddingModel(settings, modelId),
    fallbackModel: (members: readonly MemberSpec[], options: FallbackModelOptions = {}) =>
      new FallbackModel(settings, members, options),
  });
}

/** Without a meter, which would keep the receipts of all its calls: their results have no place for them. */
function embeddingModel(settings: TollgateSettings, modelId: string): EmbeddingModelV4 {
  const model = providerFor(settings, settings.fetch, () => undefined).embeddingModel(modelId);
  const embed = model.doEmbed.bind(model);
  return Object.assign(model, { doEmbed: (options: Parameters<typeof embed>[0]) => heedingHeader(embed(options)) });
}

/** With a meter of its own, so that concurrent calls do not get each other's receipts. */
function metered(settings: TollgateSettings): OpenAICompatibleProvider {
  const { fetch, receipts } = meteredFetch({ fetch: settings.fetch });
  return providerFor(settings, fetch, () => receiptMetadata(receipts.at(-1)));
}

class MeteredModel implements LanguageModelV4 {
  readonly specificationVersion = 'v4';
  readonly provider = 'tollgate.chat';
  readonly modelId: string;
  readonly #settings: TollgateSettings;

  constructor(settings: TollgateSettings, modelId: string) {
    this.modelId = modelId;
    this.#settings = settings;
  }

  get supportedUrls(): LanguageModelV4['supportedUrls'] {
    return this.#model().supportedUrls;
  }

  doGenerate(options: LanguageModelV4CallOptions): PromiseLike<LanguageModelV4GenerateResult> {
    return heedingHeader(this.#model().doGenerate(options));
  }

  doStream(options: LanguageModelV4CallOptions): PromiseLike<LanguageModelV4StreamResult> {
    return heedingHeader(this.#model().doStream(options));
  }

  #model(): LanguageModelV4 {
    return metered(this.#settings).chatModel(this.modelId);
  }
}
