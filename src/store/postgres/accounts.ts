import { ACCOUNT_KIND } from '../codes.ts';
import { type AccountColumns, accountOf } from '../columns.ts';
import { fitsInt64 } from '../int64.ts';
import { afterOf, limitOf } from '../page.ts';
import type { AuditRow } from '../people.ts';
import { writeAudit } from '../programs/audit.ts';
import type { Account, NewAccount, Page } from '../store.ts';
import type { Connections } from './connections.ts';
import { runProgram } from './directory.ts';
import { takeLock } from './locks.ts';

const ACCOUNT_SELECT = `
  SELECT id, name, account.kind AS kind, created_ms, balance, held, reserved, spent, loss_hour, lost, status, version
  FROM account JOIN balance ON balance.account_id = account.id`;

export class Accounts {
  readonly #connections: Connections;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  create({ id, name, kind, createdMs }: NewAccount, audit?: AuditRow): Promise<'created' | 'name_taken'> {
    return this.#connections.transaction(async (sql) => {
      await takeLock(sql, 'names');
      const made = await sql(
        `WITH made AS (
         INSERT INTO account (id, name, kind, created_ms) VALUES ($1, $2, $3, $4) ON CONFLICT (name) DO NOTHING
         RETURNING id, kind)
       INSERT INTO balance (account_id, kind, balance, held, spent) SELECT id, kind, 0, 0, 0 FROM made RETURNING 1`,
        [id, name, ACCOUNT_KIND.of[kind], createdMs],
      );
      if (made.length === 0) return 'name_taken';
      if (audit !== undefined) await runProgram(sql, writeAudit(audit));
      return 'created';
    });
  }

  async find(idOrName: bigint | string): Promise<Account | null> {
    if (typeof idOrName === 'bigint' ? !fitsInt64(idOrName) : idOrName.includes('\0')) return null;
    const column = typeof idOrName === 'bigint' ? 'id' : 'name';
    const [row] = await this.#connections.query<AccountColumns>(`${ACCOUNT_SELECT} WHERE ${column} = $1`, [idOrName]);
    return row === undefined ? null : accountOf(row);
  }

  async list(page: Page): Promise<Account[]> {
    const rows = await this.#connections.query<AccountColumns>(`${ACCOUNT_SELECT} WHERE id > $1 ORDER BY id LIMIT $2`, [
      afterOf(page),
      limitOf(page),
    ]);
    return rows.map(accountOf);
  }
}
