import type { Finding } from './finding.ts';

export const FINDING_COLUMNS = [
  { title: 'CHECK', text: (finding: Finding) => finding.check },
  { title: 'STATUS', text: (finding: Finding) => finding.status },
  { title: 'DETAIL', text: (finding: Finding) => finding.detail },
] as const;
