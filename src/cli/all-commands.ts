import type { AnyCommand } from './command.ts';
import { accountsCommands } from './commands/accounts.ts';
import { alertsCommands } from './commands/alerts.ts';
import { auditCommands } from './commands/audit.ts';
import { balanceCommand } from './commands/balance.ts';
import { catalogCommands } from './commands/catalog.ts';
import { configCommands } from './commands/config.ts';
import { doctorCommand } from './commands/doctor.ts';
import { jobsCommands } from './commands/jobs.ts';
import { keysCommands } from './commands/keys.ts';
import { ledgerCommands } from './commands/ledger.ts';
import { managementKeysCommands } from './commands/management-keys.ts';
import { modelsCommand } from './commands/models.ts';
import { peopleCommands } from './commands/people.ts';
import { receiptsCommands } from './commands/receipts.ts';
import { sealCommands } from './commands/seal.ts';
import { serveCommand } from './commands/serve.ts';
import { setupCommand } from './commands/setup.ts';
import { storeCommands } from './commands/store.ts';
import { usageCommand } from './commands/usage.ts';
import { webhooksCommands } from './commands/webhooks.ts';

export const COMMANDS: readonly AnyCommand[] = [
  serveCommand,
  accountsCommands,
  keysCommands,
  modelsCommand,
  balanceCommand,
  receiptsCommands,
  usageCommand,
  peopleCommands,
  managementKeysCommands,
  alertsCommands,
  webhooksCommands,
  jobsCommands,
  auditCommands,
  ledgerCommands,
  storeCommands,
  sealCommands,
  doctorCommand,
  configCommands,
  catalogCommands,
  setupCommand,
];
