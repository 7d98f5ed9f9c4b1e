import type { ReceiptSigner } from '../signing/receipt-signer.ts';
import type { Books } from './books.ts';
import type { Core } from './core.ts';
import type { AuthGate } from './gate.ts';
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
