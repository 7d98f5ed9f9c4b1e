import type { MetadataExtractor } from '@ai-sdk/openai-compatible';
import type { JSONObject } from '@ai-sdk/provider';
import type { Receipt } from '@tollgate/client';

/** What the call cost, as JSON: amounts are strings, so that they are exact. Undefined if there is no receipt. */
export function receiptMetadata(receipt: Receipt | undefined): JSONObject | undefined {
  if (receipt === undefined) return undefined;
  const { requestId, requestedModel, effectiveModel, costNanousd, components, state } = receipt;
  return {
    requestId,
    requestedModel,
    effectiveModel,
    state,
    costNanousd: costNanousd === null ? null : String(costNanousd),
    components:
      components && Object.fromEntries(Object.entries(components).map(([name, amount]) => [name, String(amount)])),
  };
}

/**
 * The bodies that an extractor is given have no receipt, so it asks for what the call's `fetch` has collected. A stream
 * has its receipt when it ends, which is when the metadata is built.
 */
export function metadataFrom(read: () => JSONObject | undefined): MetadataExtractor {
  const build = () => {
    const tollgate = read();
    return tollgate === undefined ? undefined : { tollgate };
  };
  return {
    extractMetadata: async () => build(),
    createStreamExtractor: () => ({ processChunk: () => {}, buildMetadata: build }),
  };
}
