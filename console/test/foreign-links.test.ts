import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { storeMembersManagementKey } from '../../test/people.ts';
import { CONSOLE_URL } from './hosted.ts';
import { hostedSuite } from './hosted-suite.ts';

const suite = hostedSuite();

/** The credentials with which the page that is loaded next asks who is signed in. */
async function credentialsOf(page: Page, load: () => Promise<unknown>): Promise<string | undefined> {
  const asked = page.waitForRequest((request) => request.url().endsWith('/manage/v1/me'));
  await load();
  return (await asked).headers().authorization;
}

/** Otherwise somebody might store their provider key in the account of whoever sent them the link. */
test('a link with the management key of somebody else does not change who acts in hosted mode', async () => {
  const { accountId } = await suite.world.harness.mint();
  const theirs = await storeMembersManagementKey(suite.world.harness.running.books, accountId);
  const first = await suite.openAs('owner', '');
  const page = await first.context().newPage();
  expect(await credentialsOf(page, () => page.goto(`${CONSOLE_URL}#token=${theirs}`))).toBeUndefined();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  expect(await credentialsOf(page, () => page.reload())).toBeUndefined();
  await page.getByRole('link', { name: 'owner@example.com' }).waitFor();
});

/** From a link that an earlier version took, or from the same address when the gateway was in local mode. */
test('a token that a tab still has does not change who acts in hosted mode', async () => {
  const first = await suite.openAs('owner', '');
  const page = await first.context().newPage();
  await page.addInitScript(() => sessionStorage.setItem('tollgate.token', 'left-from-local-mode'));
  expect(await credentialsOf(page, () => page.goto(CONSOLE_URL))).toBeUndefined();
  await page.getByRole('link', { name: 'owner@example.com' }).waitFor();
});
