import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { formatId } from '../../src/kit/ids.ts';
import type { AccountRole } from '../../src/store/people.ts';
import { enrol } from '../../test/people.ts';
import { CONSOLE_URL, publicContext, signInAs } from './hosted.ts';
import { hostedSuite } from './hosted-suite.ts';

const suite = hostedSuite();

interface Owner {
  readonly page: Page;
  become(role: AccountRole): Promise<void>;
  leave(): Promise<void>;
}

/** A page of an owner whose role somebody else changes, as another process of the gateway would. */
async function openAsOwner(email: string, path: string): Promise<Owner> {
  const { world, browser } = suite;
  const { harness, accountId } = world;
  const { books } = harness.running;
  const personId = await enrol(books, email, { roles: [[accountId, 'owner']] });
  const context = await publicContext(browser, harness);
  await signInAs(context, { ...world, people: new Map([['owner', personId]]) }, 'owner');
  const operator = await publicContext(browser, harness);
  await signInAs(operator, world, 'operator');
  const elsewhere = await operator.newPage();
  await elsewhere.goto(`${CONSOLE_URL}/system`);
  const member = `/manage/v1/accounts/${formatId('acct_', accountId)}/members/${formatId('person_', personId)}`;
  const send = async (method: string, body: object): Promise<void> => {
    const init = { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const isDone = await elsewhere.evaluate(`fetch('${member}', ${JSON.stringify(init)}).then(({ ok }) => ok)`);
    expect(isDone).toBe(true);
  };
  const page = await context.newPage();
  await page.goto(CONSOLE_URL + path);
  return { page, become: (role) => send('PATCH', { role }), leave: () => send('DELETE', {}) };
}

test('what a new role does not allow is no longer offered once it was refused', async () => {
  const { keyId } = await suite.world.harness.mintFor(suite.world.accountId);
  const { page, become } = await openAsOwner('demoted@example.com', `/keys?open=${formatId('key_', keyId)}`);
  await page.getByRole('button', { name: 'Disable' }).click();
  await become('viewer');
  await page.getByRole('button', { name: 'Disable key' }).click();
  await page.getByRole('alert').getByText('Your role does not allow this.').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'Revoke key' }).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Members', exact: true }).waitFor({ state: 'detached' });
  expect(await page.getByRole('button', { name: 'New key' }).count()).toBe(0);
  await page.context().close();
});

test('somebody who was removed from the account while Live is on reads that', async () => {
  // Only the feed is read again by itself on this page: it has no refused calls.
  const { page, leave } = await openAsOwner('removed@example.com', '/requests?show=complete&live=1');
  await page.getByText('No request').waitFor();
  await leave();
  await page.getByText('You have no role in any account').waitFor();
  await page.context().close();
});

test('the form of a new key says that the role no longer allows it, and stays', async () => {
  const { page, become } = await openAsOwner('not-minting@example.com', '/keys?dialog=mint');
  await page.getByLabel('Name').fill('too late');
  await become('viewer');
  await page.getByRole('button', { name: 'Mint key' }).click();
  await page.getByRole('link', { name: 'Members', exact: true, includeHidden: true }).waitFor({ state: 'detached' });
  await page.getByRole('alert').getByText('Your role does not allow this.').waitFor();
  await page.context().close();
});
