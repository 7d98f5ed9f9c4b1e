import type { AuditRow, NewPerson } from '../src/store/people.ts';
import { NOON_MS } from './store-fixtures.ts';

let nextAuditId = 0n;
export function audit(action: string, over: Partial<AuditRow> = {}): AuditRow {
  return {
    id: ++nextAuditId,
    atMs: NOON_MS,
    actorKind: 'command_line',
    actorId: null,
    actorName: 'root',
    action,
    subject: 'person_1',
    accountId: null,
    before: null,
    after: '{}',
    address: null,
    ...over,
  };
}

export function aPerson(id: bigint, over: Partial<NewPerson> = {}): NewPerson {
  return {
    id,
    email: `Person${id}@Example.com`,
    name: `Person ${id}`,
    passwordHash: null,
    identity: null,
    isOperator: false,
    createdMs: NOON_MS,
    ...over,
  };
}
