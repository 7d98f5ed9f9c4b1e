import type { Host } from '../../api/generated/routes.ts';
import { useApi } from '../../api/queries.ts';
import { useViewer } from '../../shell/viewer.tsx';

export type HostStates = ReadonlyMap<string, Host['state']>;

/** How healthy each host is; empty for everybody but operators. */
export function useHostStates(): HostStates {
  const { isOperator } = useViewer();
  const hosts = useApi('GET /hosts', {}, { enabled: isOperator, refetchMs: 15_000 });
  return new Map((hosts.data?.data ?? []).map(({ id, state }) => [id, state]));
}
