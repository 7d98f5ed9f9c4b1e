import type { KeyProvider } from '../canonical/key-providers.ts';
import type { HostWire } from '../canonical/wire-names.ts';

/** A provider whose keys callers may store. Code reads these fields and never compares the provider's name. */
export interface ProviderRow {
  /** The name in `/v1/keys/{provider}`, and before the slash in `cloud/<deployment>`. */
  readonly slug: KeyProvider;
  /** How the path of every `base_url` ends. */
  readonly basePathEnd: string;
  /** The header that holds the key, without a scheme. */
  readonly keyHeader: string;
  /** The path of the request that verifies a key; it costs nothing. */
  readonly verifyPath: string;
  /** The wires of its deployments. */
  readonly wires: readonly HostWire[];
}

export const PROVIDER_ROWS: readonly ProviderRow[] = [
  {
    slug: 'cloud',
    basePathEnd: '/openai/v1',
    keyHeader: 'api-key',
    verifyPath: '/models',
    wires: ['chat', 'responses', 'completions', 'embeddings'],
  },
];
