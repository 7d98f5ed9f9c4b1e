import { LIMITS } from '../../limits.ts';
import type { Directory } from '../directory.ts';
import type { Member, Membership, Person } from '../people.ts';
import { memberName, personWindowNameOf } from '../rules/rows.ts';
import { windowSpan } from '../windows.ts';
import { byId, type MemoryRows, pageOf } from './memory-rows.ts';

/** People as far as money depends on them. Tests of everything else use SQLite. */
type MoneyOfPeople = Pick<
  Directory,
  | 'renameAccount'
  | 'setAccountStatus'
  | 'closeAccount'
  | 'createPerson'
  | 'findPerson'
  | 'disablePerson'
  | 'enablePerson'
  | 'putMembership'
  | 'removeMembership'
  | 'listMembers'
  | 'findMember'
  | 'webhookSecretsAfter'
  | 'receiptKeysAfter'
  | 'openConditions'
  | 'raiseAlert'
  | 'writeAudit'
>;

export function memoryDirectory(rows: MemoryRows): Directory {
  return new MemoryDirectory(rows) as MoneyOfPeople as Directory;
}

/** Whether the person may have keys in the account: not if they are disabled, and not as a viewer. */
function mayHaveKeys({ people, members }: MemoryRows, accountId: bigint, personId: bigint): boolean {
  const role = members.get(memberName(accountId, personId))?.role ?? 'viewer';
  return role !== 'viewer' && people.get(personId)?.disabledMs === null;
}

/** Why a person can have no further key in the account; null if they can. */
export function keyRefusal(
  rows: MemoryRows,
  accountId: bigint,
  personId: bigint,
): 'no_member' | 'too_many_keys' | null {
  if (!mayHaveKeys(rows, accountId, personId)) return 'no_member';
  const keys = [...rows.keys.values()].filter(
    (key) => key.personId === personId && key.accountId === accountId && key.revokedMs === null,
  );
  return keys.length >= LIMITS.keysPerPersonMax ? 'too_many_keys' : null;
}

class MemoryDirectory implements MoneyOfPeople {
  readonly #rows: MemoryRows;

  constructor(rows: MemoryRows) {
    this.#rows = rows;
  }

  webhookSecretsAfter: Directory['webhookSecretsAfter'] = async () => [];

  receiptKeysAfter: Directory['receiptKeysAfter'] = async () => [];

  openConditions: Directory['openConditions'] = async () => [];

  raiseAlert: Directory['raiseAlert'] = async () => 'raised';

  writeAudit: Directory['writeAudit'] = async () => {};

  renameAccount: Directory['renameAccount'] = async (id, name, expectedVersion) => {
    const account = this.#rows.accounts.get(id);
    if (account === undefined) return 'not_found';
    if (expectedVersion !== null && account.version !== expectedVersion) return 'version_conflict';
    const other = [...this.#rows.accounts.values()].find((each) => each.name === name);
    if (other !== undefined && other.id !== id) return 'name_taken';
    Object.assign(account, { name, version: account.version + 1n });
    return 'renamed';
  };

  setAccountStatus: Directory['setAccountStatus'] = async (id, to) => {
    const account = this.#rows.accounts.get(id);
    if (account === undefined) return 'not_found';
    if (account.status === 'closed') return 'closed';
    if (account.status === to) return 'unchanged';
    Object.assign(account, { status: to, version: account.version + 1n });
    return 'changed';
  };

  closeAccount: Directory['closeAccount'] = async (id, payout) => {
    const account = this.#rows.accounts.get(id);
    if (account === undefined) return { kind: 'not_found' };
    if (account.status === 'closed') return { kind: 'already_closed' };
    if (account.status !== 'suspended') return { kind: 'not_suspended' };
    const open = this.#rows.receipts().filter(({ accountId, state }) => accountId === id && state === 'open');
    if (open.length > 0) return { kind: 'calls_open', calls: open.length, heldNanousd: account.heldNanousd };
    if ((this.#rows.jobTotals.get(id)?.waiting ?? 0) > 0) return { kind: 'jobs_waiting' };
    const paidOutNanousd = account.balanceNanousd;
    if (paidOutNanousd !== 0n) {
      const credit = { ...payout, kind: 'credit', accountId: id, amountNanousd: -paidOutNanousd } as const;
      this.#rows.credits.set(payout.id, credit);
    }
    for (const key of this.#rows.providerKeys.values())
      if (key.accountId === id) this.#rows.providerKeys.delete(key.id);
    Object.assign(account, { balanceNanousd: 0n, status: 'closed', version: account.version + 1n });
    return { kind: 'closed', paidOutNanousd };
  };

  createPerson: Directory['createPerson'] = async (person) => {
    if ([...this.#rows.people.values()].some(({ email }) => email === person.email)) return 'email_taken';
    this.#rows.people.set(person.id, { ...person, disabledMs: null, unconfirmedIn: null, version: 1n });
    return 'created';
  };

  findPerson: Directory['findPerson'] = async (id) => this.#rows.people.get(id) ?? null;

  disablePerson: Directory['disablePerson'] = async (id, nowMs) => this.#setDisabled(id, nowMs, nowMs);

  enablePerson: Directory['enablePerson'] = async (id, { atMs }) => this.#setDisabled(id, null, atMs);

  #setDisabled(id: bigint, disabledMs: number | null, nowMs: number): Person | 'not_found' {
    const person = this.#rows.people.get(id);
    if (person === undefined) return 'not_found';
    if ((person.disabledMs === null) === (disabledMs === null)) return person;
    const changed = { ...person, disabledMs, version: person.version + 1n };
    this.#rows.people.set(id, changed);
    this.#followPerson(id, nowMs);
    return changed;
  }

  putMembership: Directory['putMembership'] = async (membership, { atMs }) => {
    const { accountId, personId } = membership;
    if (!this.#rows.people.has(personId)) return 'no_person';
    if (!this.#rows.accounts.has(accountId)) return 'no_account';
    const before = this.#rows.members.get(memberName(accountId, personId));
    this.#rows.members.set(memberName(accountId, personId), membership);
    this.#followPerson(personId, atMs);
    if (before?.role === 'owner' && membership.role !== 'owner') this.#endPermissions(accountId, personId);
    return 'stored';
  };

  removeMembership: Directory['removeMembership'] = async (accountId, personId, { atMs }) => {
    const before = this.#rows.members.get(memberName(accountId, personId));
    if (!this.#rows.members.delete(memberName(accountId, personId))) return false;
    this.#followPerson(personId, atMs);
    if (before?.role === 'owner') this.#endPermissions(accountId, personId);
    return true;
  };

  #endPermissions(accountId: bigint, personId: bigint): void {
    if (this.#rows.people.get(personId)?.isOperator) return;
    const keys = [...this.#rows.keys.values()].filter(
      (key) => key.personId === personId && key.accountId === accountId,
    );
    for (const key of keys.sort(byId)) {
      if (key.permissions.length === 0 || key.revokedMs !== null) continue;
      this.#rows.keys.set(key.id, { ...key, permissions: [], version: ++this.#rows.keyVersion });
    }
  }

  #followPerson(personId: bigint, nowMs: number): void {
    const keys = [...this.#rows.keys.values()].filter((key) => key.personId === personId && key.revokedMs === null);
    for (const key of keys.sort(byId)) {
      const works = mayHaveKeys(this.#rows, key.accountId, personId);
      if (works === (key.personDisabledMs === null)) continue;
      const version = ++this.#rows.keyVersion;
      this.#rows.keys.set(key.id, { ...key, personDisabledMs: works ? null : nowMs, version });
    }
  }

  listMembers: Directory['listMembers'] = async (accountId, page, nowMs) => {
    const members = [...this.#rows.members.values()].filter((each) => each.accountId === accountId);
    const rows = pageOf(members.map((each) => ({ ...each, id: each.personId })).sort(byId), page);
    return rows.map(({ id: _, ...membership }) => this.#memberOf(membership, nowMs));
  };

  findMember: Directory['findMember'] = async (accountId, personId, nowMs) => {
    const membership = this.#rows.members.get(memberName(accountId, personId));
    return membership === undefined ? null : this.#memberOf(membership, nowMs);
  };

  #memberOf(membership: Membership, nowMs: number): Member {
    const { accountId, personId, capWindow } = membership;
    const atMs = Math.max(nowMs, this.#rows.todayMs);
    const name = personWindowNameOf(accountId, personId, capWindow, atMs);
    const spend = this.#rows.personWindows.get(name) ?? { spentNanousd: 0n, heldNanousd: 0n, reservedNanousd: 0n };
    return {
      person: this.#rows.people.get(personId)!,
      membership,
      window: { window: capWindow, ...windowSpan(capWindow, atMs), ...spend },
    };
  }
}
