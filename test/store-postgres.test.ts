import { ledgerScripts } from './ledger-scripts.ts';
import { storeContract } from './store-contract.ts';
import { openPostgres } from './store-engines.ts';

storeContract('postgres', openPostgres);
ledgerScripts('postgres', openPostgres);
