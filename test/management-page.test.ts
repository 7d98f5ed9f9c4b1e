import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MANAGE_ROUTES, type ManageRoute } from '../src/manage/routes.ts';
import { SIGN_IN_ROUTES, type SignInRoute } from '../src/manage/sign-in/routes.ts';

/** The row that a route has on the page. */
function rowOf({ method, path, access, summary }: ManageRoute | SignInRoute): string {
  const who = typeof access === 'object' ? access.role : access;
  return `| \`${method} ${path}\` | ${who} | ${summary} |`;
}

test('docs/management.md lists every route, who may use it, and what it does', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/management.md'), 'utf8');
  const rows = page.split('\n').filter((line) => /^\| `[A-Z]+ \//.test(line));
  expect(rows).toEqual([...SIGN_IN_ROUTES, ...MANAGE_ROUTES].map(rowOf));
});
