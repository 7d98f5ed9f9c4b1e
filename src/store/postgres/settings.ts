import type { Connections } from './connections.ts';

/** Settings that make a commit durable; with any of them off, a crash could lose confirmed money operations. */
const DURABLE = ['fsync', 'full_page_writes', 'synchronous_commit'] as const;

/** The first version that supports everything used here. */
const VERSION_MIN = 150_000;

/** Why this server is not safe for money, in one sentence; null if it is. */
export async function whyUnsafe(connections: Pick<Connections, 'queryToAdmit'>): Promise<string | null> {
  // Not from the view pg_settings, which computes all settings first.
  const rows = await connections.queryToAdmit<{ name: string; setting: string }>(
    'SELECT name, current_setting(name) AS setting FROM unnest($1::text[]) AS name',
    [[...DURABLE, 'server_version_num', 'server_version']],
  );
  const settings = new Map(rows.map(({ name, setting }) => [name, setting]));
  if (Number(settings.get('server_version_num')) < VERSION_MIN) {
    return `PostgreSQL ${settings.get('server_version')} is too old. Version 15 or newer is required.`;
  }
  const off = DURABLE.find((name) => settings.get(name) === 'off');
  if (off === undefined) return null;
  return `PostgreSQL runs with ${off} = off, so a crash could lose confirmed payments. Set ${off} = on.`;
}

/** Why this database cannot hold every text that a caller may send, in one sentence; null if it can. */
export async function whyUnfit(connections: Pick<Connections, 'queryToAdmit'>): Promise<string | null> {
  const [row] = await connections.queryToAdmit<{ encoding: string }>(
    "SELECT current_setting('server_encoding') AS encoding",
  );
  if (row!.encoding === 'UTF8') return null;
  return `The database has the encoding ${row!.encoding}, which cannot hold every text. Create one with ENCODING 'UTF8' TEMPLATE template0.`;
}
