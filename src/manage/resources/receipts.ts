import type { ManageRoute } from '../route.ts';

export const RECEIPTS_ROUTES: readonly ManageRoute[] = [
  {
    method: 'GET',
    path: '/receipts',
    verb: 'receipts.list',
    access: 'operator',
    summary: 'Receipts, the newest first, by account, key and time.',
  },
  {
    method: 'GET',
    path: '/receipts/{receipt}',
    verb: 'receipts.show',
    access: 'operator',
    summary: 'One receipt, with host, attempts and loss.',
  },
];
