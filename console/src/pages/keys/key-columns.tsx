import type { ShownKey } from '../../api/generated/routes.ts';
import { useApi } from '../../api/queries.ts';
import { Money } from '../../parts/money.tsx';
import type { Column } from '../../parts/table.tsx';
import { Ago } from '../../parts/time.tsx';
import { useMemberNames, useSeesMembers } from '../../shell/member-names.ts';
import { useAccountInput, useViewer } from '../../shell/viewer.tsx';
import { CapMeter } from './cap-meter.tsx';
import { NamedKey } from './key-hint.tsx';
import { KeyStatus, LastUsed } from './key-status.tsx';

export function useKeyColumns(): readonly Column<ShownKey>[] {
  const lifetime = useLifetimeSpend();
  const owner = useOwnerColumn();
  return [
    ...SPENDING,
    {
      id: 'lifetime',
      head: 'Spent in total',
      align: 'right',
      wideOnly: true,
      cell: ({ id }) => <Money nanousd={lifetime === null ? null : (lifetime.get(id) ?? 0n)} />,
    },
    ...(owner === null ? [] : [owner]),
    ...TERMS,
  ];
}

const SPENDING: readonly Column<ShownKey>[] = [
  {
    id: 'name',
    head: 'Key',
    fluid: true,
    cell: ({ name, hint }) => <NamedKey name={name} hint={hint} />,
  },
  { id: 'state', head: 'State', cell: (key) => <KeyStatus shownKey={key} /> },
  { id: 'spent', head: 'Spent of cap', cell: (key) => <CapMeter shownKey={key} /> },
  {
    id: 'resets',
    head: 'Resets',
    roomyOnly: true,
    className: 'whitespace-nowrap',
    cell: ({ resets_at }) => <Ago at={resets_at} none="never" zone="UTC" isAhead />,
  },
];

const TERMS: readonly Column<ShownKey>[] = [
  {
    id: 'used',
    head: 'Last used',
    align: 'right',
    wideOnly: true,
    cell: (key) => <LastUsed shownKey={key} />,
  },
  {
    id: 'expires',
    head: 'Expires',
    align: 'right',
    roomyOnly: true,
    className: 'whitespace-nowrap',
    // The day was chosen in UTC, and can be another one where the browser is.
    cell: ({ expires_at }) => <Ago at={expires_at} none="never" zone="UTC" isAhead />,
  },
  {
    id: 'models',
    head: 'Models',
    align: 'right',
    roomyOnly: true,
    cell: ({ models }) => (
      <span title={models?.join(', ')} className="ml-auto block max-w-28 truncate">
        {models === null ? 'all' : models.length === 1 ? models[0] : `${models.length} models`}
      </span>
    ),
  },
];

/** Whose key it is: its account if all are shown, otherwise its person, for those who may know the people. */
function useOwnerColumn(): Column<ShownKey> | null {
  const { account, accounts } = useViewer();
  const memberOf = useMemberNames();
  const seesMembers = useSeesMembers();
  if (account === null)
    return {
      id: 'account',
      head: 'Account',
      roomyOnly: true,
      cell: (key) => (
        <span className="block max-w-28 truncate">
          {accounts.find(({ id }) => id === key.account)?.name ?? key.account}
        </span>
      ),
    };
  if (!seesMembers) return null;
  return {
    id: 'person',
    head: 'Belongs to',
    roomyOnly: true,
    cell: ({ person }) => (
      <span className="block max-w-28 truncate">
        {person === null ? <span className="text-muted">nobody</span> : memberOf(person)}
      </span>
    ),
  };
}

/** Before any key existed, so that it covers everything that a key has ever spent. */
const BEGINNING = 1_600_000_000;

/** Null until it is known. A key that is not in it has spent nothing. */
function useLifetimeSpend(): ReadonlyMap<string, bigint> | null {
  const account = useAccountInput();
  const usage = useApi(
    'GET /usage',
    { ...account, since: BEGINNING, group_by: 'key', metrics: 'cost' },
    { staleMs: 60_000 },
  );
  if (usage.data === undefined) return null;
  return new Map(
    usage.data.data.flatMap(({ key, cost_nanousd }) =>
      key === null || cost_nanousd === null ? [] : [[key, cost_nanousd]],
    ),
  );
}
