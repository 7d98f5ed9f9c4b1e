import type { SealRotationView, SealStatusView } from '../../operator/seal.ts';
import { EXIT } from '../exit-codes.ts';
import type { Branch, Leaf } from '../leaf.ts';
import { type Operator, withOperator } from '../reach-operator.ts';
import type { Session } from '../session.ts';
import { formatRecord, formatTable } from '../table.ts';

const statusLeaf: Leaf = {
  name: 'status',
  summary:
    'say which master keys the stored provider keys are sealed under; the exit code is 1 if one cannot be opened',
  examples: ['tollgate seal status'],
  async run(session) {
    const answer = await session.ask('seal.status', {});
    session.show(answer, describeStatus);
    const { unreadable, unreadable_keys: told } = answer.result;
    for (const { account, provider } of told)
      session.say(`${account}: the key stored for "${provider}" cannot be opened`);
    if (unreadable === 0) return EXIT.ok;
    session.advise('Give the master key they were sealed under back, or have their owners store them again.');
    return EXIT.no;
  },
};

/** Nobody may be told to take away the only key there is. */
const ONLY_KEY = 'There is one master key, and it is in use: keep it. docs/custody.md tells how to change it.';
const OLDER_KEYS =
  'No stored key needs an older master key. Keep those a day longer, for answers kept under idempotency keys; then take them away.';

const rotateLeaf: Leaf = {
  name: 'rotate',
  summary: 'bring every stored provider key under the first master key; calls go on meanwhile',
  options: [['--new-key', 'make a new master key first, where the file of them is in the data folder']],
  examples: ['tollgate seal rotate', 'tollgate seal rotate --new-key'],
  async run(session, _args, options) {
    const config = session.config('leave');
    const totals = await withOperator(session.composition, config, { mayCreate: false }, (operator) =>
      rotateAll(session, operator, options.newKey === true),
    );
    session.show({ text: JSON.stringify(totals), result: totals }, describeRotation);
    if (totals.unreadable > 0) {
      session.advise('Some cannot be opened and were left as they are: "tollgate seal status" names them.');
      return EXIT.no;
    }
    session.advise(totals.older_keys === 0 ? ONLY_KEY : OLDER_KEYS);
    return EXIT.ok;
  },
};

export const sealBranch: Branch = {
  name: 'seal',
  summary: "what callers' own provider keys are sealed under",
  leaves: [statusLeaf, rotateLeaf],
};

/** Page by page, so that a server serves others in between; broken off, it may simply be begun again. */
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
    ['sealed anew', String(totals.rewrapped)],
    ['up to date', String(totals.up_to_date)],
    ['replaced meanwhile', String(totals.changed_meanwhile)],
    ['cannot be opened', String(totals.unreadable)],
  ]);
}

const COLUMNS = [
  { title: 'MASTER KEY', text: (key: SealStatusView['keys'][number]) => key.id || '(no seal)' },
  { title: 'USE', text: (key: SealStatusView['keys'][number]) => key.use },
  { title: 'STORED KEYS', text: (key: SealStatusView['keys'][number]) => String(key.rows) },
] as const;

function describeStatus({ source, keys, rows, unreadable }: SealStatusView): string {
  const summary = formatRecord([
    ['master keys from', source],
    ['stored keys', String(rows)],
    ['cannot be opened', String(unreadable)],
  ]);
  return `${summary}\n\n${formatTable(COLUMNS, keys)}`;
}
