import type { Branch } from '../leaf.ts';
import { backupLeaf, restoreLeaf } from './store-backup.ts';
import { copyLeaf } from './store-copy.ts';
import { checkLeaf, migrateLeaf } from './store-schema.ts';

export const storeBranch: Branch = {
  name: 'store',
  summary: 'where the books are kept: looked at, brought up to date, copied, backed up, restored',
  leaves: [checkLeaf, migrateLeaf, backupLeaf, restoreLeaf, copyLeaf],
};
