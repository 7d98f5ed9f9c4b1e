import type { CommandGroup } from '../command.ts';
import { acceptLossCommand } from './store-accept-loss.ts';
import { archiveCommand } from './store-archive.ts';
import { backupCommand, restoreCommand } from './store-backup.ts';
import { compactCommand } from './store-compact.ts';
import { copyCommand } from './store-copy.ts';
import { checkCommand, migrateCommand } from './store-schema.ts';

export const storeCommands: CommandGroup = {
  name: 'store',
  summary: 'check, migrate, back up, restore, archive, compact or copy the store that holds the ledger',
  commands: [
    checkCommand,
    migrateCommand,
    backupCommand,
    restoreCommand,
    acceptLossCommand,
    archiveCommand,
    compactCommand,
    copyCommand,
  ],
};
