import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { formatId } from '../../src/kit/ids.ts';
import { enrol } from '../../test/people.ts';
import { CONSOLE_URL, type PersonName, publicContext, signInAs } from './hosted.ts';
import { hostedSuite } from './hosted-suite.ts';

const suite = hostedSuite();
const { openAs } = suite;

const READING = ['Overview', 'Keys', 'Usage', 'Requests', 'Models'];
const MANAGING = ['Balance', 'Provider keys', 'Members', 'Management keys', 'Webhooks', 'Alerts', 'Audit'];
const PAGES_OF: readonly (readonly [PersonName, readonly string[]])[] = [
  ['viewer', [...READING, 'Jobs', 'Balance']],
  ['member', [...READING, 'Playground', 'Jobs', 'Balance']],
  ['owner', [...READING, 'Playground', 'Jobs', ...MANAGING]],
  ['operator', [...READING, 'Playground', 'Jobs', ...MANAGING, 'Accounts', 'People', 'Hosts', 'System']],
];

test.each(PAGES_OF)(
  '%s has only the pages of the role, and each of them opens without an error',
  async (name, labels) => {
    const page = await openAs(name, '/');
    const links = page.getByRole('navigation', { name: 'Pages' }).first().getByRole('link');
    const shown = async () => (await links.allTextContents()).map((text) => text.replace(/\d.*$/, ''));
    await expect.poll(shown).toEqual(labels);
    for (const label of labels) {
      await page
        .getByRole('link', { name: new RegExp(`^${label}`) })
        .first()
        .click();
      await page.getByRole('heading', { level: 1, name: new RegExp(`^${label}`) }).waitFor();
      await page.waitForLoadState('networkidle');
      expect(await page.getByText('This could not be loaded').count(), label).toBe(0);
    }
    await page.context().close();
  },
);

test('a link to a page of another role says whose it is, and offers nothing that would be refused', async () => {
  const page = await openAs('member', '/people');
  await page.getByText('It is for operators.').waitFor();
  expect(await page.getByRole('button', { name: 'Invite an operator' }).count()).toBe(0);
  await page.goto(`${CONSOLE_URL}/audit`);
  await page.getByText('It is for operators and owners.').waitFor();
  await page.context().close();
});

test('a viewer is offered no form for what only others may do, although a link names one', async () => {
  const page = await openAs('viewer', '/keys?dialog=mint');
  await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
  for (const path of ['/?dialog=mint', '/jobs?dialog=submit']) {
    expect(await page.getByRole('dialog').count()).toBe(0);
    await page.goto(CONSOLE_URL + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
  }
  expect(await page.getByRole('dialog').count()).toBe(0);
  await page.goto(`${CONSOLE_URL}/models?open=sim-claude`);
  await page.getByRole('dialog').getByText('What a call costs').waitFor();
  expect(await page.getByText('Open in the playground').count()).toBe(0);
  expect(await page.getByText('Mint one first').count()).toBe(0);
  await page.context().close();
});

test('keys and sessions that cannot be read are not taken for none', async () => {
  const page = await openAs('operator', '/models');
  const body = JSON.stringify({ error: { message: 'Not today.', code: null, type: 'refused' } });
  await page.route(/\/manage\/v1\/(keys\?|people\/.*\/sessions)/, (route) =>
    route.fulfill({ status: 409, contentType: 'application/json', body }),
  );
  await page.getByRole('link', { name: 'Playground' }).click();
  await page.getByRole('alert').getByText('Not today.').waitFor();
  expect(await page.getByText('A call needs a key to pay for it').count()).toBe(0);
  await page.goto(`${CONSOLE_URL}/jobs?dialog=submit`);
  await page.getByRole('dialog').getByText('Not today.').waitFor();
  await page.goto(`${CONSOLE_URL}/people?open=${formatId('person_', suite.world.people.get('member')!)}`);
  await page.getByRole('dialog').getByText('Not today.').waitFor();
  expect(await page.getByText('Nowhere at present.').count()).toBe(0);
  await page.context().close();
});

test('somebody without any role reads so instead of errors', async () => {
  const { harness } = suite.world;
  const person = await enrol(harness.running.books, 'former@example.com', {});
  const context = await publicContext(suite.browser, harness);
  await signInAs(context, { ...suite.world, people: new Map([['viewer', person]]) }, 'viewer');
  const page = await context.newPage();
  await page.goto(CONSOLE_URL);
  await page.getByText('You have no role in any account').waitFor();
  expect(await page.getByText('This could not be loaded').count()).toBe(0);
  await context.close();
});

test('a member pays in the playground with a key of their own, and nobody is offered the key of somebody else', async () => {
  const { keyId } = await suite.world.harness.mintFor(suite.world.accountId, {
    personId: suite.world.people.get('member')!,
  });
  const keysOf = async (page: Page) => {
    const options = await page.getByLabel('Paid by').locator('option').all();
    return Promise.all(options.map((option) => option.getAttribute('value')));
  };
  const member = await openAs('member', '/playground');
  await member.getByRole('textbox', { name: 'Message' }).fill('Name three rivers.');
  await member.keyboard.press('Enter');
  await member.getByRole('button', { name: /^\$0\.\d+/ }).waitFor();
  expect(await keysOf(member)).toEqual([formatId('key_', keyId)]);
  await member.context().close();
  const owner = await openAs('owner', '/playground');
  await owner.getByRole('textbox', { name: 'Message' }).waitFor();
  expect(await keysOf(owner)).not.toContain(formatId('key_', keyId));
  await owner.context().close();
});

test('operators read who minted each management key, and owners read addresses of their own people only', async () => {
  const { accountId } = suite.world;
  const account = formatId('acct_', accountId);
  const expires_at = Math.floor(Date.now() / 1000) + 86_400;
  for (const minter of ['operator', 'owner'] as const) {
    const page = await openAs(minter, '/models');
    const body = JSON.stringify({ account, name: `minted-by-the-${minter}`, role: 'viewer', expires_at });
    const init = JSON.stringify({ method: 'POST', headers: { 'content-type': 'application/json' }, body });
    await page.evaluate(`fetch('/manage/v1/management-keys', ${init})`);
    await page.context().close();
  }
  const mintersReadBy = async (reader: PersonName): Promise<Record<string, string | null>> => {
    const page = await openAs(reader, `/management-keys?account=${account}`);
    const read: Record<string, string | null> = {};
    for (const minter of ['operator', 'owner']) {
      const row = page.getByRole('row', { name: `minted-by-the-${minter}` });
      read[minter] = await row.getByRole('cell').nth(3).textContent();
    }
    expect(await page.getByRole('columnheader').nth(3).textContent()).toBe('Minted by');
    await page.context().close();
    return read;
  };
  expect(await mintersReadBy('operator')).toEqual({ operator: 'operator@example.com', owner: 'owner@example.com' });
  expect(await mintersReadBy('owner')).toEqual({ operator: 'operator', owner: 'owner@example.com' });
});

test('an owner changes the role of a person, and removes them', async () => {
  const { harness, accountId } = suite.world;
  const roles = [[accountId, 'viewer']] as const;
  const person = await enrol(harness.running.books, 'guest@example.com', { name: 'Guest', roles });
  const page = await openAs('owner', '/members');
  const choose = async (item: string): Promise<void> => {
    await page.getByRole('button', { name: 'Actions for Guest' }).click();
    await page.getByRole('menuitem', { name: item }).click();
  };
  await choose('Change role or cap');
  await page.getByLabel('Role', { exact: true }).selectOption('member');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('Guest is a member.').waitFor();
  await choose('Remove');
  await page.getByRole('button', { name: 'Remove member' }).click();
  await page.getByText('Guest no longer has a role here.').waitFor();
  expect(await harness.running.books.store.directory.membershipsOf(person)).toEqual([]);
  await page.context().close();
});

test('people see where they are signed in', async () => {
  const page = await openAs('owner', '/profile');
  await page.getByText('this browser').waitFor();
  await page.context().close();
});

test('an owner sees the email addresses of people in the usage, and a member their own, not their ids', async () => {
  const person = suite.world.people.get('member')!;
  const { secret } = await suite.world.harness.mintFor(suite.world.accountId, { personId: person });
  const call = { model: 'sim-gpt-mini', max_tokens: 8, messages: [{ role: 'user', content: 'Hello' }] };
  await (await suite.world.harness.post(call, { authorization: `Bearer ${secret}` })).text();
  const page = await openAs('owner', '/usage?by=person');
  await page.getByRole('cell', { name: 'member@example.com' }).waitFor();
  expect(await page.getByText(formatId('person_', person)).count()).toBe(0);
  await page.context().close();
  const own = await openAs('member', '/usage?by=person');
  await own.getByRole('cell', { name: 'member@example.com' }).waitFor();
  expect(await own.getByText(formatId('person_', person)).count()).toBe(0);
  await own.context().close();
});
