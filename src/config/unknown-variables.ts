import type { Environment } from '../hosts/read-key.ts';
import { nearestName } from '../kit/nearest.ts';
import { LIMITS } from '../limits.ts';

/** A TOLLGATE_* variable that nothing reads; most likely a typing error. */
export interface UnknownVariable {
  readonly name: string;
  /** The variable that was most likely meant; null if none is close. */
  readonly nearest: string | null;
}

const PREFIX = 'TOLLGATE_';

/** Never their values, which may be secrets. */
export function unknownVariables(env: Environment, known: readonly string[]): UnknownVariable[] {
  const endings = known.filter((name) => name.startsWith(PREFIX)).map((name) => name.slice(PREFIX.length));
  return Object.keys(env)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name) && !isServiceLink(name, env[name]))
    .slice(0, LIMITS.configProblemsMax)
    .map((name) => {
      // Without the part that all of them share, or every short name would be close to every other.
      const nearest = nearestName(name.slice(PREFIX.length), endings);
      return { name, nearest: nearest === null ? null : PREFIX + nearest };
    });
}

/** Kubernetes sets such variables in every pod for each Service, for example for one named `tollgate-db`. */
function isServiceLink(name: string, value = ''): boolean {
  return /_SERVICE_(?:HOST|PORT)|_PORT_\d+_(?:TCP|UDP|SCTP)/.test(name) || /^(?:tcp|udp|sctp):/.test(value);
}

export function describeUnknownVariable({ name, nearest }: UnknownVariable): string {
  const hint = nearest === null ? '' : ` (did you mean ${nearest}?)`;
  return `${name} is not a variable that Tollgate reads${hint}`;
}
