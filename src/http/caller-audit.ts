import type { Caller } from '../accounts/authenticate.ts';
import type { Clock } from '../kit/clock.ts';
import { auditRow } from '../operator/actor.ts';

export interface AuditTerms {
  readonly clock: Clock;
  readonly ids: { next(): bigint };
}

/** The row of the audit for one change. */
export type CallerAudit = (action: string, subject: string, after: object | null) => ReturnType<typeof auditRow>;

/** Rows of the audit for what a caller changes in its account with a gateway key. */
export function auditOfCaller({ clock, ids }: AuditTerms, { accountId, key }: Caller): CallerAudit {
  const actor = { kind: 'gateway_key', id: key?.id ?? null, name: key?.name ?? 'local', address: null } as const;
  return (action, subject, after) => auditRow({ actor, clock, ids }, { action, subject, accountId, after });
}
