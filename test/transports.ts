import { TRANSPORTS, type Transport } from '../src/config/config.ts';

export { TRANSPORTS };

/** Each transport, and once with every frame parsed. */
export const RELAY_SETTINGS: readonly { readonly transport: Transport; readonly frameMemory: boolean }[] = [
  ...TRANSPORTS.map((transport) => ({ transport, frameMemory: true })),
  { transport: 'own', frameMemory: false },
];

/** The response of a transport where it cannot respond like the other one. */
interface Difference {
  readonly status: number;
  readonly code: string;
  readonly reason: string;
}

/** Where the platform's parser answers differently, and no setting of it changes that; by the case of the test. */
const NODE_ANSWERS: Readonly<Record<string, Difference>> = {
  'an unknown method': {
    status: 400,
    code: 'bad_request',
    reason: 'node:http has a fixed list of methods and refuses any other before the router sees it',
  },
};

/** The response that this transport gives instead of the usual one; null if it gives the usual one. */
export function differenceOf(transport: Transport, name: string): Difference | null {
  return transport === 'node' ? (NODE_ANSWERS[name] ?? null) : null;
}
