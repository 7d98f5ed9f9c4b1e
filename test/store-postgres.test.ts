import { ledgerScripts } from './ledger-scripts.ts';
import { storeContract } from './store-contract.ts';
import { accountsContract } from './store-contract-accounts.ts';
import { directoryContract } from './store-contract-directory.ts';
import { linkContract } from './store-contract-links.ts';
import { personKeysContract } from './store-contract-person-keys.ts';
import { creditAuditContract } from './store-contract-refunds.ts';
import { webhookContract } from './store-contract-webhooks.ts';
import { openPostgres } from './store-engines.ts';

storeContract('postgres', openPostgres);
directoryContract('postgres', openPostgres);
webhookContract('postgres', openPostgres);
accountsContract('postgres', openPostgres);
personKeysContract('postgres', openPostgres);
linkContract('postgres', openPostgres);
creditAuditContract('postgres', openPostgres);
ledgerScripts('postgres', openPostgres);
