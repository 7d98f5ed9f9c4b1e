import type { Config } from '../src/config/config.ts';
import type { ConfiguredHost, HostRow } from '../src/hosts/host.ts';
import { HOST_ROWS } from '../src/hosts/rows.ts';

/* Apart from the harness, so that processes of campaigns start without the SDKs that it loads. */

const SIM_ROW = HOST_ROWS.find((row) => row.simulated)!;

export function simHost(sim: { readonly url: string }, row: Partial<HostRow> = {}): ConfiguredHost {
  return {
    row: { ...SIM_ROW, baseUrl: `${sim.url}/v1`, ...row },
    key: null,
    keySource: null,
    local: false,
    models: [],
  };
}

/** Limits of one key that are too high to be reached. */
export const NO_RATE_LIMITS: Config['rateLimit'] = {
  requestsPerSecond: null,
  burst: 1,
  bodyBytesPerSecond: null,
  jsonMembersPerSecond: null,
  calls: null,
  streams: null,
  accountFactor: null,
};
