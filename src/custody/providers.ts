import type { HostWire } from '../canonical/wire-names.ts';

/** A provider whose keys are taken into custody is a row of data: everything that code would ask its name for. */
export interface ProviderRow {
  /** As it stands in `/v1/keys/{provider}`, and before the slash of `cloud/<deployment>`. */
  readonly slug: string;
  /** How the path of every resource's URL ends. */
  readonly basePathEnd: string;
  /** The header that carries the key, alone. */
  readonly keyHeader: string;
  /** Asked for to verify a key; costs nothing. */
  readonly verifyPath: string;
  /** Wires on which its deployments can be called. */
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
