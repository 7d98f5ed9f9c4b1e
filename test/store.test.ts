import { ledgerScripts } from './ledger-scripts.ts';
import { storeContract } from './store-contract.ts';
import { directoryContract } from './store-contract-directory.ts';
import { personKeysContract } from './store-contract-person-keys.ts';
import { creditAuditContract } from './store-contract-refunds.ts';
import { openMemory, openSqlite, openSqliteInline } from './store-engines.ts';

storeContract('memory', openMemory);
storeContract('sqlite', openSqliteInline);
storeContract('sqlite in threads', openSqlite);
directoryContract('sqlite', openSqliteInline);
directoryContract('sqlite in threads', openSqlite);
personKeysContract('memory', openMemory);
personKeysContract('sqlite', openSqliteInline);
creditAuditContract('sqlite', openSqliteInline);
creditAuditContract('sqlite in threads', openSqlite);
ledgerScripts('memory', openMemory);
ledgerScripts('sqlite', openSqliteInline);
