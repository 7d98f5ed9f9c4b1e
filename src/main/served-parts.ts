import type { Gate } from '../accounts/authenticate.ts';
import type { KeyDirectory } from '../accounts/key-directory.ts';
import type { ReceiptSigner } from '../signing/receipt-signer.ts';
import type { Books } from './books.ts';
import type { Core } from './core.ts';
import type { OpenJobs } from './jobs.ts';
import type { StartTerms } from './start-terms.ts';
import type { Workers } from './workers/workers.ts';

/** The parts of a process that has opened its ledger and is about to serve. */
export interface ServedParts {
  readonly terms: StartTerms;
  readonly books: Books;
  readonly core: Core;
  readonly gate: AuthGate;
  readonly jobs: OpenJobs;
  readonly signer: ReceiptSigner;
  readonly workers: Workers;
}

/** Changed when the store is replaced, and once the pages of the management API are known. */
export interface AuthGate extends Gate {
  readonly directory: KeyDirectory;
  localAccountId: bigint | null;
  page: Gate['page'];
}
