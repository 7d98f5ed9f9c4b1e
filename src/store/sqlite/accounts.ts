import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { fitsInt64 } from '../int64.ts';
import type { Account, NewAccount, Page } from '../store.ts';
import { ACCOUNT_KIND } from './codes.ts';
import { inTransaction } from './database.ts';
import { afterOf, limitOf } from './page.ts';

export function createAccount(database: DatabaseSync, account: NewAccount): 'created' | 'name_taken' {
  return inTransaction(database, () => {
    if (database.prepare('SELECT 1 FROM account WHERE name = ?').get(account.name) !== undefined) return 'name_taken';
    const kind = ACCOUNT_KIND.of[account.kind];
    database
      .prepare('INSERT INTO account VALUES (?, ?, ?, ?)')
      .run(account.id, account.name, kind, BigInt(account.createdMs));
    database.prepare('INSERT INTO balance VALUES (?, ?, 0, 0, 0)').run(account.id, kind);
    return 'created';
  });
}

const SELECT = `
  SELECT id, name, account.kind AS kind, created_ms, balance, held, spent
  FROM account JOIN balance ON balance.account_id = account.id`;

interface AccountColumns {
  readonly id: bigint;
  readonly name: string;
  readonly kind: bigint;
  readonly created_ms: bigint;
  readonly balance: bigint;
  readonly held: bigint;
  readonly spent: bigint;
}

export class AccountReader {
  readonly #byId: StatementSync;
  readonly #byName: StatementSync;
  readonly #page: StatementSync;

  constructor(database: DatabaseSync) {
    this.#byId = database.prepare(`${SELECT} WHERE id = ?`);
    this.#byName = database.prepare(`${SELECT} WHERE name = ?`);
    this.#page = database.prepare(`${SELECT} WHERE id > ? ORDER BY id LIMIT ?`);
  }

  find(idOrName: bigint | string): Account | null {
    if (typeof idOrName === 'bigint' && !fitsInt64(idOrName)) return null;
    const row = typeof idOrName === 'bigint' ? this.#byId.get(idOrName) : this.#byName.get(idOrName);
    return row === undefined ? null : accountOf(row as unknown as AccountColumns);
  }

  list(page: Page): Account[] {
    const rows = this.#page.all(afterOf(page), limitOf(page)) as unknown as AccountColumns[];
    return rows.map(accountOf);
  }
}

function accountOf(row: AccountColumns): Account {
  return {
    id: row.id,
    name: row.name,
    kind: ACCOUNT_KIND.word(row.kind),
    createdMs: Number(row.created_ms),
    balanceNanousd: row.balance,
    heldNanousd: row.held,
    spentNanousd: row.spent,
  };
}
