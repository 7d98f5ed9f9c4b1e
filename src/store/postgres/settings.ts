import type { Connections } from './connections.ts';

/** What makes a commit final; with any of them off, money that was promised could be forgotten in a crash. */
const DURABLE = ['fsync', 'full_page_writes', 'synchronous_commit'] as const;

/** The first version with everything that is used here. */
const VERSION_MIN = 150_000;

/** Why this server cannot be trusted with money, in one sentence; null if it can. */
export async function whyUnsafe(connections: Connections): Promise<string | null> {
  const rows = await connections.query<{ name: string; setting: string }>(
    'SELECT name, setting FROM pg_settings WHERE name = ANY($1::text[])',
    [[...DURABLE, 'server_version_num', 'server_version']],
  );
  const settings = new Map(rows.map(({ name, setting }) => [name, setting]));
  if (Number(settings.get('server_version_num')) < VERSION_MIN) {
    return `PostgreSQL ${settings.get('server_version')} is too old: 15 or newer is needed.`;
  }
  const off = DURABLE.find((name) => settings.get(name) === 'off');
  if (off === undefined) return null;
  return `PostgreSQL runs with ${off} = off, so that a crash could lose money it has confirmed: set ${off} = on.`;
}
