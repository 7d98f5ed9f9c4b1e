import { expect, test } from 'vitest';
import type { HostReport } from '../hosts/hosts-health.ts';
import { listHosts } from './hosts.ts';
import type { OperatorServices } from './services.ts';

test.each([
  { state: 'well', isRefusing: false, shown: 'well' },
  { state: 'well', isRefusing: true, shown: 'refusing' },
  { state: 'limited', isRefusing: true, shown: 'refusing' },
  { state: 'key_refused', isRefusing: true, shown: 'key_refused' },
] as const)('shows a host that is $state as $shown if refusing every request is $isRefusing', async (host) => {
  const { state, isRefusing, shown } = host;
  const report: HostReport = { host: 'alpha', state, isRefusing, firstByteMs: null, events: [] };
  const services = { live: { hosts: () => [report] }, catalog: () => ({ list: () => [] }) };
  const { data } = await listHosts(services as unknown as OperatorServices);
  expect(data).toMatchObject([{ id: 'alpha', state: shown }]);
});
