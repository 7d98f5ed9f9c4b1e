import { hangupFacts } from '../gateway/hangup-facts.ts';
import type { OperatorServices } from '../operator/operator.ts';
import type { ServedParts } from './served-parts.ts';
import { mismatchAlarm } from './signing.ts';

/** Where callers reach this process, where people reach the management API, and when it began to listen. */
export interface Addresses {
  readonly url: string;
  readonly manageUrl: string;
  readonly startedMs: number;
}

/** The services that operations use, whoever makes the request. */
export function operatorServices(
  { terms, books, core, gate, jobs }: ServedParts,
  { url, startedMs }: Addresses,
): Omit<OperatorServices, 'actor'> {
  const { clock, config } = terms;
  const { store, ledger, ids, backUp } = books;
  return {
    store,
    ledger,
    clock,
    ids,
    backUp,
    archiveFolder: config.retention.archiveFolder,
    hangups: (account) => hangupFacts(core.gateway, account),
    moved: null,
    catalog: () => core.gateway.prices().catalog,
    directory: gate.directory,
    masterKeys: () => core.entrusted.keyring,
    webhooks: async () => core.webhooks.targets,
    jobs: async () => jobs.jobs,
    live: core.live,
    onMismatch: mismatchAlarm(terms.log, core.metrics),
    server: { url, pid: process.pid, hosted: config.hosted, startedMs },
    publicUrl: config.publicUrl,
  };
}
