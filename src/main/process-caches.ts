import { LIMITS } from '../limits.ts';
import type { ReceiptSigner } from '../signing/receipt-signer.ts';
import type { Core } from './core.ts';
import type { OpenJobs } from './jobs.ts';

interface ProcessCaches {
  readonly core: Core;
  readonly signer: ReceiptSigner;
  readonly jobs: OpenJobs;
}

/** The caches that a process has only once, besides those of its calls. */
export function addProcessCaches({ core, signer, jobs }: ProcessCaches): void {
  const { caches } = core;
  caches.addAll(() => signer.sizes());
  caches.addAll(() => jobs.sizes());
  caches.addAll(() => core.webhooks.deliverer.sizes());
  caches.add('changed_payers', 2 * LIMITS.alertChangesMax, () => core.alerts.watch.waiting);
}
