import type { AuditRow, NewInvitation, NewManagementKey, NewPerson, NewSession } from '../src/store/people.ts';
import { NOON_MS } from './store-fixtures.ts';

export const DAY_MS = 86_400_000;

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

export function anInvitation(id: bigint, over: Partial<NewInvitation> = {}): NewInvitation {
  return {
    id,
    sha256Hex: `hash-${id}`,
    email: 'new@example.com',
    isOperator: false,
    accountId: 1n,
    role: 'member',
    invitedBy: null,
    madeWith: null,
    cap: null,
    resetsPersonId: null,
    createdMs: NOON_MS,
    expiresMs: NOON_MS + DAY_MS,
    ...over,
  };
}

export function aManagementKey(id: bigint, over: Partial<NewManagementKey> = {}): NewManagementKey {
  return {
    id,
    sha256Hex: `management-${id}`,
    prefix: 'tg_mgmt_abcd',
    lastFour: 'wxyz',
    name: `automation ${id}`,
    mintedBy: null,
    accountId: null,
    role: null,
    isReadOnly: false,
    createdMs: NOON_MS,
    expiresMs: null,
    ...over,
  };
}

export function aSession(id: bigint, personId: bigint, over: Partial<NewSession> = {}): NewSession {
  return {
    id,
    sha256Hex: `session-${id}`,
    personId,
    createdMs: NOON_MS,
    expiresMs: NOON_MS + 7 * DAY_MS,
    address: '192.0.2.1',
    userAgent: 'a browser',
    ...over,
  };
}
