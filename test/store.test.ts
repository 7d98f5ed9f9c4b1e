import { ledgerScripts } from './ledger-scripts.ts';
import { storeContract } from './store-contract.ts';
import { openMemory, openSqlite } from './store-engines.ts';

storeContract('memory', openMemory);
storeContract('sqlite', openSqlite);

ledgerScripts('memory', openMemory);
ledgerScripts('sqlite', openSqlite);
