import type { SealRotationView, SealStatusView, UnreadableView } from '../../operator/seal.ts';
import type { CommandGroup, CommandSpec } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { type Operator, withOperator } from '../reach-operator.ts';
import type { Session } from '../session.ts';
import { formatRecord, formatTable } from '../table.ts';

const statusCommand: CommandSpec = {
  name: 'status',
  summary:
    'show which master keys the stored keys, webhook secrets, jobs and receipt keys are encrypted with; exits with 1 if one cannot be decrypted',
  examples: ['tollgate seal status'],
  async run(session) {
    const answer = await session.ask('seal.status', {});
    session.show(answer, describeStatus);
    const { unreadable, unreadable_keys: told } = answer.result;
    for (const unreadableKey of told) session.say(`${describe(unreadableKey)} cannot be decrypted`);
    if (unreadable === 0) return EXIT.ok;
    session.advise('Restore the master key they were encrypted with, or have their owners store them again.');
    return EXIT.no;
  },
};

function describe({ account, provider, webhook, job, receipt_key: receiptKey }: UnreadableView): string {
  if (receiptKey !== undefined) return `operator: key ${receiptKey} for signing receipts`;
  if (job !== undefined) return `${job}: a part of its request or result`;
  const what = webhook === null ? `the key stored for "${provider}"` : `the secret of the webhook "${webhook}"`;
  return `${account ?? 'operator'}: ${what}`;
}

const ONLY_KEY = 'The only master key is in use: keep it. docs/custody.md explains how to change it.';
const OLDER_KEYS =
  'No stored key needs an older master key. Keep the older ones for another day, because stored idempotent responses still use them; then remove them.';

const rotateCommand: CommandSpec = {
  name: 'rotate',
  summary: 'encrypt every stored key, webhook secret and job with the first master key; calls continue meanwhile',
  options: [['--new-key', 'create a new master key first; only if the key file is in the data folder']],
  examples: ['tollgate seal rotate', 'tollgate seal rotate --new-key'],
  async run(session, _args, options) {
    const config = session.config('leave');
    const totals = await withOperator(session.composition, config, { mayCreate: false }, (operator) =>
      rotateAll(session, operator, options.newKey === true),
    );
    session.show({ text: JSON.stringify(totals), result: totals }, describeRotation);
    if (totals.unreadable > 0) {
      session.advise('Some keys cannot be decrypted and were left unchanged: "tollgate seal status" lists them.');
      return EXIT.no;
    }
    session.advise(totals.older_keys === 0 ? ONLY_KEY : OLDER_KEYS);
    return EXIT.ok;
  },
};

export const sealCommands: CommandGroup = {
  name: 'seal',
  summary: "manage the master keys that encrypt callers' own provider keys and webhook secrets",
  commands: [statusCommand, rotateCommand],
};

/** Works page by page, so that the server can do other work in between. It can be interrupted and run again. */
async function rotateAll(session: Session, operator: Operator, newKey: boolean): Promise<SealRotationView> {
  const page = async (after: string | null): Promise<SealRotationView> =>
    (await operator.run('seal.rotate', { after, new_key: newKey && after === null })).result;
  let totals = await page(null);
  while (totals.next !== null) {
    session.advise(`${totals.examined} rows`);
    totals = add(totals, await page(totals.next));
  }
  return totals;
}

function add(sum: SealRotationView, page: SealRotationView): SealRotationView {
  return {
    ...page,
    examined: sum.examined + page.examined,
    rewrapped: sum.rewrapped + page.rewrapped,
    up_to_date: sum.up_to_date + page.up_to_date,
    changed_meanwhile: sum.changed_meanwhile + page.changed_meanwhile,
    unreadable: sum.unreadable + page.unreadable,
  };
}

function describeRotation(totals: SealRotationView): string {
  return formatRecord([
    ['master key', totals.key],
    ['stored keys', String(totals.examined)],
    ['re-encrypted', String(totals.rewrapped)],
    ['up to date', String(totals.up_to_date)],
    ['replaced meanwhile', String(totals.changed_meanwhile)],
    ['cannot be decrypted', String(totals.unreadable)],
  ]);
}

const COLUMNS = [
  { title: 'MASTER KEY', text: (key: SealStatusView['keys'][number]) => key.id || '(not sealed)' },
  { title: 'USE', text: (key: SealStatusView['keys'][number]) => key.use },
  { title: 'STORED KEYS', text: (key: SealStatusView['keys'][number]) => String(key.rows) },
] as const;

function describeStatus({ source, keys, rows, unreadable }: SealStatusView): string {
  const summary = formatRecord([
    ['master keys from', source],
    ['stored keys', String(rows)],
    ['cannot be decrypted', String(unreadable)],
  ]);
  return `${summary}\n${formatTable(COLUMNS, keys)}`;
}
