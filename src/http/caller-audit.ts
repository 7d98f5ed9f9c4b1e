import type { Clock } from '../kit/clock.ts';
import { auditRow } from '../operator/actor.ts';
import type { PlainRequest } from './routes.ts';

export interface AuditTerms {
  readonly clock: Clock;
  readonly ids: { next(): bigint };
  /** Where a request comes from, behind the proxies that are trusted. */
  clientAddress(peerAddress: string | null, forwardedFor: string | undefined): string | null;
}

/** The row of the audit for one change. */
type CallerAudit = (
  action: string,
  subject: string,
  after: object | null,
  before?: object | null,
) => ReturnType<typeof auditRow>;

/** Rows of the audit for what a caller changes in its account with a gateway key. */
export function auditOfCaller({ clock, ids, clientAddress }: AuditTerms, request: PlainRequest): CallerAudit {
  const { accountId, key } = request.caller;
  const forwardedFor = request.headers['x-forwarded-for'];
  const address = clientAddress(request.peerAddress, forwardedFor?.toString());
  const actor = { kind: 'gateway_key', id: key?.id ?? null, name: key?.name ?? 'local', address } as const;
  return (action, subject, after, before = null) =>
    auditRow({ actor, clock, ids }, { action, subject, accountId, before, after });
}
