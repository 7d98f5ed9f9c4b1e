import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { formatId } from '../../src/kit/ids.ts';
import type { AccountRole } from '../../src/store/people.ts';
import { enrol } from '../../test/people.ts';
import { CONSOLE_URL, publicContext, signInAs } from './hosted.ts';
import { hostedSuite } from './hosted-suite.ts';

const suite = hostedSuite();
const { openAs } = suite;

const ANY_REFUSAL = {
  ...{ id: null, accountId: null, keyId: null, personId: null, model: null, code: null },
  ...{ sinceMs: null, untilMs: null },
};

/** Opens a page as somebody with these roles, who is new. */
async function openWith(
  email: string,
  roles: readonly (readonly [bigint, AccountRole])[],
  path: string,
): Promise<{ readonly page: Page; readonly person: bigint }> {
  const { harness } = suite.world;
  const person = await enrol(harness.running.books, email, { name: email, roles });
  const context = await publicContext(suite.browser, harness);
  await signInAs(context, { ...suite.world, people: new Map([['viewer', person]]) }, 'viewer');
  const page = await context.newPage();
  await page.goto(CONSOLE_URL + path);
  return { page, person };
}

test('a member sees what is left of the cap that an owner has set, even without a key', async () => {
  const owner = await openAs('owner', '/members');
  await owner.getByRole('button', { name: 'Actions for member@example.com' }).click();
  await owner.getByRole('menuitem', { name: 'Change role or cap' }).click();
  await owner.getByLabel('Cap of the person').fill('7');
  await owner.getByRole('button', { name: 'Save changes' }).click();
  await owner.getByText('member@example.com is a member.').waitFor();
  await owner.goto(`${CONSOLE_URL}/balance`);
  await owner.getByText('since the account was created').waitFor();
  expect(await owner.getByText('Your own cap').count()).toBe(0);
  await owner.context().close();
  const member = await openAs('member', '/balance');
  await member.getByText('Your own cap').waitFor();
  await member.getByText('left of $7.00').waitFor();
  await member.context().close();
});

test('the key of somebody who was removed is not offered to be enabled, and says why it does not work', async () => {
  const { harness, accountId } = suite.world;
  const { books } = harness.running;
  const left = await enrol(books, 'left@example.com', { name: 'Left', roles: [[accountId, 'member']] });
  const { keyId } = await harness.mintFor(accountId, { personId: left });
  const owner = await openAs('owner', '/members');
  await owner.getByRole('button', { name: 'Actions for Left' }).click();
  await owner.getByRole('menuitem', { name: 'Remove' }).click();
  await owner.getByRole('button', { name: 'Remove member' }).click();
  await owner.getByText('no longer has a role here').waitFor();
  await owner.goto(`${CONSOLE_URL}/keys?open=${formatId('key_', keyId)}`);
  const drawer = owner.getByRole('dialog');
  await drawer.getByRole('button', { name: 'Revoke key' }).waitFor();
  expect(await drawer.getByRole('button', { name: 'Enable' }).count()).toBe(0);
  await drawer.getByText('may not use it').waitFor();
  await owner.context().close();
});

test('whoever takes the role of an owner away reads what ends with it, before and after', async () => {
  const { accountId } = suite.world;
  const { page } = await openWith('demoted@example.com', [[accountId, 'owner']], '/');
  const expires_at = Math.floor(Date.now() / 1000) + 3600;
  const terms = { account: formatId('acct_', accountId), role: 'owner', name: 'of the demoted', expires_at };
  const minted = page.evaluate(async (body) => {
    const headers = { 'content-type': 'application/json' };
    return (await fetch('/manage/v1/management-keys', { method: 'POST', headers, body })).status;
  }, JSON.stringify(terms));
  expect(await minted).toBe(201);
  await page.context().close();
  const owner = await openAs('owner', '/management-keys');
  const row = owner.getByRole('row').filter({ hasText: 'of the demoted' });
  await row.getByText('active').waitFor();
  await owner.getByRole('link', { name: 'Members' }).click();
  await owner.getByRole('button', { name: 'Actions for demoted@example.com' }).click();
  await owner.getByRole('menuitem', { name: 'Change role or cap' }).click();
  const warning = owner.getByText('the management keys they minted here are revoked');
  expect(await warning.count()).toBe(0);
  await owner.getByLabel('Role', { exact: true }).selectOption('member');
  await warning.waitFor();
  await owner.getByRole('button', { name: 'Save changes' }).click();
  await owner.getByText('demoted@example.com is a member.').waitFor();
  await owner.getByRole('link', { name: 'Management keys' }).click();
  await row.getByText('revoked').waitFor();
  await owner.context().close();
});

test('a viewer of an account without calls is not told to mint a key', async () => {
  const page = await openAs('viewer', '/');
  await page.getByRole('heading', { name: 'Make the first call' }).waitFor();
  await page.waitForLoadState('networkidle');
  expect(await page.getByRole('button', { name: /key|call/i }).allTextContents()).toEqual([]);
  await page.getByText('ask an owner').waitFor();
  await page.context().close();
});

test.each([
  ['an owner', 'owner', 'Ask an operator of this gateway to add credit.'],
  ['an operator', 'operator', 'Add credit on the page Balance.'],
] as const)('%s reads before the first call that the account has no money', async (_, name, advice) => {
  const { harness } = suite.world;
  const { accountId } = await harness.mint({ creditNanousd: 0n });
  const account = (await harness.running.books.store.findAccount(accountId))!.name;
  const path = `/?account=${account}`;
  const page =
    name === 'operator'
      ? await openAs(name, path)
      : (await openWith('broke@example.com', [[accountId, name]], path)).page;
  await page.getByRole('heading', { name: 'Make the first call' }).waitFor();
  await page.getByText(`This account has no money, so calls are refused. ${advice}`).waitFor();
  await page.context().close();
});

test('a management key is not offered the role of a member, because only people have keys of their own', async () => {
  const page = await openAs('owner', '/management-keys?dialog=mint');
  const roles = page.getByLabel('May act as').locator('option');
  await roles.first().waitFor({ state: 'attached' });
  expect(await roles.allTextContents()).toEqual(['Owner: manages keys and people', 'Viewer: reads']);
  await page.context().close();
});

test('whoever goes to another account leaves behind what belongs to the first one', async () => {
  const { harness, accountId } = suite.world;
  const { keyId } = await harness.mintFor(accountId);
  const second = await harness.mint();
  const name = (await harness.running.books.store.findAccount(second.accountId))!.name;
  const roles = [
    [accountId, 'owner'],
    [second.accountId, 'viewer'],
  ] as const;
  const { page } = await openWith('both@example.com', roles, `/requests?key=${formatId('key_', keyId)}&time=7d`);
  const goToSecond = async (): Promise<void> => {
    await page.getByRole('button', { name: /available/ }).click();
    await page.getByRole('menuitem', { name }).click();
    await page.waitForURL((url) => url.searchParams.get('account') === formatId('acct_', second.accountId));
  };
  await page.getByText('No request matches the filters').waitFor();
  await goToSecond();
  await page.getByText('No request matches the filters').waitFor();
  expect(await page.getByText('This could not be loaded').count()).toBe(0);
  expect([...new URL(page.url()).searchParams.keys()].toSorted()).toEqual(['account', 'time']);
  const first = formatId('acct_', accountId);
  await page.goto(`${CONSOLE_URL}/keys?account=${first}&open=${formatId('key_', keyId)}`);
  await page.getByRole('button', { name: 'Revoke key' }).waitFor();
  await goToSecond();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.context().close();
});

test('an owner who removes themselves reads that they have no role, instead of errors', async () => {
  const { page } = await openWith('leaving@example.com', [[suite.world.accountId, 'owner']], '/members');
  await page.getByRole('button', { name: 'Actions for leaving@example.com' }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await page.getByRole('button', { name: 'Remove member' }).click();
  await page.getByText('You have no role in any account').waitFor();
  await page.context().close();
});

test('whoever pastes the id of a refused call finds it, whichever of their accounts it was in', async () => {
  const { harness, accountId } = suite.world;
  const second = await harness.mint();
  const call = { model: 'no-such-model', messages: [{ role: 'user', content: 'Hello' }] };
  const refused = await harness.post(call, { authorization: `Bearer ${second.secret}` });
  await refused.text();
  const id = refused.headers.get('x-gateway-request-id')!;
  const { store } = harness.running.books;
  // Refused calls are written behind the calls.
  await expect
    .poll(async () => (await store.usage.listRefusals(ANY_REFUSAL, { limit: 1, after: null })).length)
    .toBe(1);
  const { name } = (await store.findAccount(second.accountId))!;
  const roles = [
    [accountId, 'viewer'],
    [second.accountId, 'member'],
  ] as const;
  const asked = `/requests?account=${formatId('acct_', accountId)}&open=${id}`;
  const operator = await openAs('operator', asked);
  await operator.getByRole('dialog').getByText('refused, nothing was charged').waitFor();
  await operator.getByRole('dialog').getByText(name).waitFor();
  await operator.context().close();
  const { page } = await openWith('two@example.com', roles, asked);
  // A member sees only what was refused to their own keys.
  await page.getByRole('dialog').getByText('No request has this id').waitFor();
  await page.context().close();
  const viewing = [roles[0], [second.accountId, 'viewer']] as const;
  const viewer = await openWith('views@example.com', viewing, asked);
  await viewer.page.getByRole('dialog').getByText('refused, nothing was charged').waitFor();
  await viewer.page.context().close();
});

test('an owner is offered only events that an account gets', async () => {
  const page = await openAs('owner', '/webhooks?dialog=webhook');
  await page.getByLabel('All, including those of later versions').uncheck();
  const events = page.getByRole('group', { name: 'Events' }).getByRole('checkbox');
  await page.getByLabel('ends of jobs').waitFor();
  expect(await events.count()).toBe(7);
  expect(await page.getByLabel('alert: disk').count()).toBe(0);
  await page.context().close();
});

test('somebody who is signed in gets a role in another account with a link, and then sees both', async () => {
  const { harness, accountId } = suite.world;
  const second = await harness.mint();
  const name = (await harness.running.books.store.findAccount(second.accountId))!.name;
  const operator = await openAs('operator', `/members?account=${formatId('acct_', second.accountId)}&dialog=invite`);
  const { page } = await openWith('more@example.com', [[accountId, 'viewer']], '/profile');
  await operator.getByLabel('Email address').fill('more@example.com');
  const [made] = await Promise.all([
    operator.waitForResponse(/\/manage\/v1\/invitations$/),
    operator.getByRole('button', { name: 'Make the link' }).click(),
  ]);
  const { link } = (await made.json()) as { link: string };
  await page.goto(link);
  await page.getByText(`more@example.com is invited to be a member of “${name}”.`).waitFor();
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByRole('button', { name: /available/ }).click();
  await page.getByRole('menuitem', { name }).waitFor();
  await page.context().close();
  await operator.context().close();
});
