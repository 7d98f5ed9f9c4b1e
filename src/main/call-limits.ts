import type { Config } from '../config/config.ts';
import type { Gateway } from '../gateway/gateway.ts';

/** Amounts are numbers in the config, which can be printed as JSON, and bigint everywhere else. */
export function callLimits({
  hangupAllowanceNanousd,
  countAboveNanousd,
  ...times
}: Config['limits']): Gateway['limits'] {
  return {
    ...times,
    countAboveNanousd: BigInt(countAboveNanousd),
    hangupAllowanceNanousd: hangupAllowanceNanousd === null ? null : BigInt(hangupAllowanceNanousd),
  };
}
