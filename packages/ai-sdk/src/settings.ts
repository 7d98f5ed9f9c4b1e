import { createOpenAICompatible, type OpenAICompatibleProvider } from '@ai-sdk/openai-compatible';
import type { JSONObject } from '@ai-sdk/provider';
import type { Fetch } from '@tollgate/client';
import { metadataFrom } from './call-metadata.ts';

export interface TollgateSettings {
  /** The gateway's address, with or without `/v1`. */
  readonly baseURL: string;
  /** Not needed by a gateway in local mode. */
  readonly apiKey?: string | undefined;
  /** The most that one call may cost, in nanodollars: `usd('0.05')`. */
  readonly maxCost?: bigint | undefined;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly fetch?: Fetch | undefined;
}

/** A provider, for a single call if its `fetch` collects the receipt. */
export function providerFor(
  { baseURL, apiKey, maxCost, headers }: TollgateSettings,
  fetch: Fetch | undefined,
  read: () => JSONObject | undefined,
): OpenAICompatibleProvider {
  return createOpenAICompatible({
    name: 'tollgate',
    baseURL: `${baseURL.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1`,
    ...(apiKey === undefined ? {} : { apiKey }),
    headers: { ...(maxCost === undefined ? {} : { 'x-gateway-max-cost-nanousd': String(maxCost) }), ...headers },
    ...(fetch === undefined ? {} : { fetch }),
    includeUsage: true,
    supportsStructuredOutputs: true,
    metadataExtractor: metadataFrom(read),
  });
}
