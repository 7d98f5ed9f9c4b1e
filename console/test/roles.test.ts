import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { startHarness } from '../../test/harness.ts';
import { enrol, PUBLIC_URL } from '../../test/people.ts';
import { CONSOLE_URL, type PersonName, publicContext, signInAs } from './hosted.ts';
import { hostedSuite } from './hosted-suite.ts';

const suite = hostedSuite();
const { openAs } = suite;

const MAY_MINT: Readonly<Record<PersonName, boolean>> = { operator: true, owner: true, member: true, viewer: false };

describe.each(Object.entries(MAY_MINT) as [PersonName, boolean][])('%s', (name, mayMint) => {
  test(`sees the keys and ${mayMint ? 'may' : 'may not'} mint one`, async () => {
    const page = await openAs(name, '/keys');
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.getByRole('table', { name: 'Keys' }).or(page.getByText('No keys yet')).first().waitFor();
    // A list that is still being read has no second button yet.
    const buttons = page.getByRole('button', { name: 'New key' });
    await expect.poll(() => buttons.count()).toBe(mayMint ? 1 + (name === 'member' ? 1 : 0) : 0);
    await page.context().close();
  });

  test('sees requests without an error', async () => {
    const page = await openAs(name, '/requests');
    await page.getByText('No requests yet').waitFor();
    await page.context().close();
  });
});

test('a member without a key reads why jobs cannot be submitted', async () => {
  const page = await openAs('member', '/jobs?dialog=submit');
  await page.getByRole('alert').getByText('Mint one on the page Keys first.').waitFor();
  expect(await page.getByRole('button', { name: 'Submit', exact: true }).isDisabled()).toBe(true);
  await page.context().close();
});

test('the operator of a gateway without accounts is told to create one', async () => {
  const harness = await startHarness({ hosted: true, config: { publicUrl: PUBLIC_URL } });
  const operator = await enrol(harness.running.books, 'first@example.com', { isOperator: true });
  const context = await publicContext(suite.browser, harness);
  await signInAs(context, { ...suite.world, harness, people: new Map([['operator', operator]]) }, 'operator');
  const page = await context.newPage();
  await page.goto(`${CONSOLE_URL}/balance`);
  await page.getByRole('link', { name: 'Create an account' }).waitFor();
  await page.goto(`${CONSOLE_URL}/keys?dialog=mint`);
  await page.getByRole('alert').getByText('Create one on the page Accounts first.').waitFor();
  expect(await page.getByRole('button', { name: 'Mint key' }).isDisabled()).toBe(true);
  await context.close();
  await harness.stop();
});

test('an empty account says that no model is served only when that is known', async () => {
  const page = await openAs('owner', '/requests');
  await page.getByText('No requests yet').waitFor();
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  await page.route(/\/manage\/v1\/models$/, async (route) => {
    await held;
    await route.fallback();
  });
  await page.goto(CONSOLE_URL);
  await page.getByRole('main').locator('[data-skeleton]').first().waitFor();
  await page.getByText('Spend by day').waitFor({ state: 'detached' });
  expect(await page.getByText('No model is served yet').count()).toBe(0);
  release();
  await page.getByRole('heading', { name: 'Make the first call' }).waitFor();
  await page.context().close();
});

test('somebody without a session is asked to sign in', async () => {
  const context = await publicContext(suite.browser, suite.world.harness);
  const page = await context.newPage();
  await page.goto(CONSOLE_URL);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByLabel('Email address').fill('owner@example.com');
  await page.getByLabel('Password').fill('not the password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').waitFor();
  expect(await page.getByRole('navigation').count()).toBe(0);
  await context.close();
});

test('a key that can pay is found behind a thousand keys that have expired', async () => {
  const { harness } = suite.world;
  const { books } = harness.running;
  const { accountId } = await harness.mint({ creditNanousd: 1_000_000_000n, expiresMs: 1 });
  const owner = await enrol(books, 'of-many@example.com', { roles: [[accountId, 'owner']] });
  await Promise.all(Array.from({ length: 1_000 }, () => harness.mintFor(accountId, { expiresMs: 1 })));
  await harness.mintFor(accountId, { personId: owner });
  const context = await publicContext(suite.browser, harness);
  await signInAs(context, { ...suite.world, people: new Map([['owner', owner]]) }, 'owner');
  const page = await context.newPage();
  await page.goto(`${CONSOLE_URL}/playground`);
  await page.getByRole('textbox', { name: 'Message' }).fill('Hello');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: /^\$0\.0/ }).waitFor();
  await context.close();
});

test('whoever is signed out meanwhile is asked to sign in, and what they type stays when they look elsewhere', async () => {
  const page = await openAs('owner', '/');
  await page.getByRole('heading', { name: 'Make the first call' }).waitFor();
  await endSession(page);
  await page.getByRole('link', { name: 'Keys', exact: true }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await page.getByLabel('Email address').fill('owner@example.com');
  const [asked] = await Promise.all([
    page.waitForResponse(/\/manage\/v1\/me$/),
    page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`),
  ]);
  await asked.finished();
  expect(await page.getByLabel('Email address').inputValue()).toBe('owner@example.com');
  await page.context().close();
});

test('whoever signs in in another tab gets nothing of what the person before has seen', async () => {
  const page = await openAs('owner', '/keys');
  await page.getByRole('row', { name: /active/ }).waitFor();
  // Nothing of the next person is read yet.
  await page.route(/\/manage\/v1\/(keys|accounts)/, () => undefined);
  await signInAs(page.context(), suite.world, 'member');
  const other = await page.context().newPage();
  await other.goto(`${CONSOLE_URL}/keys`);
  await other.getByText('No keys yet').waitFor();
  await page.getByRole('row', { name: /active/ }).waitFor({ state: 'detached' });
  expect(await page.getByText('owner@example.com').count()).toBe(0);
  await page.unroute(/\/manage\/v1\/(keys|accounts)/);
  await page.reload();
  await page.getByRole('link', { name: 'member@example.com' }).waitFor();
  await page.context().close();
});

test('whoever is signed out in another tab sees nothing any more', async () => {
  const page = await openAs('owner', '/keys');
  await page.getByRole('row', { name: /active/ }).waitFor();
  const other = await page.context().newPage();
  await other.goto(CONSOLE_URL);
  await other.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await page.getByRole('row', { includeHidden: true }).count()).toBe(0);
  await page.context().close();
});

test('whoever is signed out in another tab is not asked whether to stay with a secret that is still shown', async () => {
  const page = await openAs('owner', '/keys?dialog=mint');
  page.on('dialog', (question) => void question.dismiss());
  await page.getByLabel('Name').fill('not-copied');
  await page.getByRole('button', { name: 'Mint key' }).click();
  await page.locator('[data-secret]').waitFor();
  const other = await page.context().newPage();
  await other.goto(CONSOLE_URL);
  await other.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  expect(await page.locator('[data-secret]').count()).toBe(0);
  expect(await page.getByText('Your session has ended.').count()).toBe(0);
  await page.context().close();
});

describe('a session that ends while a form is open', () => {
  async function openForm() {
    const page = await openAs('owner', '/keys?dialog=mint');
    await page.clock.install();
    await page.getByLabel('Name').fill('half-done');
    await endSession(page);
    await page.getByRole('button', { name: 'Mint key' }).click();
    await page.getByText('Your session has ended. Sign in again to go on where you were.').waitFor();
    return page;
  }

  /** As in another tab, where single sign-on leads to. */
  async function signInElsewhere(page: Page, name: 'owner' | 'member'): Promise<void> {
    await signInAs(page.context(), suite.world, name);
    const other = await page.context().newPage();
    await other.goto(CONSOLE_URL);
    await other.getByRole('link', { name: `${name}@example.com` }).waitFor();
  }

  test('hides it, and keeps what was typed for the same person, who can send it again', async () => {
    const page = await openForm();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await signInElsewhere(page, 'owner');
    await page.getByRole('alert').getByText('Your session had ended, and nothing was changed.').waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('half-done');
    await page.getByRole('button', { name: 'Mint key' }).click();
    await page.locator('[data-secret]').waitFor();
    await page.context().close();
  });

  test('keeps nothing of it for longer than a quarter of an hour, but what is typed to sign in', async () => {
    const page = await openForm();
    await page.getByLabel('Email address').fill('owner@example.com');
    expect(await page.locator('[role=dialog]').count()).toBe(1);
    await page.clock.fastForward('15:00');
    await page.getByText('Your session has ended.').waitFor({ state: 'detached' });
    expect(await page.locator('[role=dialog], [role=row], tr').count()).toBe(0);
    expect(await page.getByLabel('Email address').inputValue()).toBe('owner@example.com');
    await page.context().close();
  });

  test('leaves nothing of it for somebody else', async () => {
    const page = await openForm();
    await signInElsewhere(page, 'member');
    await page.getByText('No keys yet').waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('');
    expect(await page.getByText('owner@example.com').count()).toBe(0);
    await page.context().close();
  });
});

test('says so if signing out did not work', async () => {
  const page = await openAs('viewer', '/');
  await page.route(/\/sign-out$/, (route) => route.abort());
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('You are still signed in. Try again.').waitFor();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.context().close();
});

const PASSWORD = 'correct horse battery';

/** A link that an operator made for somebody. */
async function linkFor(email: string): Promise<string> {
  const operator = await openAs('operator', '/');
  const invitation = JSON.stringify({ email, account: await accountName(), role: 'member' });
  const invited = (await operator.evaluate(
    `fetch('/manage/v1/invitations', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: ${JSON.stringify(invitation)},
  }).then((response) => response.json())`,
  )) as { link: string };
  await operator.context().close();
  return invited.link;
}

/** The page of somebody who has accepted an invitation with a password. */
async function joinAs(email: string): Promise<Page> {
  const context = await publicContext(suite.browser, suite.world.harness);
  const page = await context.newPage();
  await page.goto(await linkFor(email));
  await page.getByLabel('Your name').fill('Newcomer');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  return page;
}

async function signInWithPassword(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email address').click();
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

test('an invitation leads into the console, and its person signs in again with the password', async () => {
  const page = await joinAs('new@example.com');
  expect(page.url(), 'the secret has left the address').not.toContain('#');
  await page.goBack();
  expect(await page.getByText('Accept the invitation').count(), 'it is used up').toBe(0);
  await page.goForward();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await signInWithPassword(page, 'new@example.com');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.context().close();
});

test('the secret of an invitation leaves the address at once, and is still there after a reload, until it is used', async () => {
  const context = await publicContext(suite.browser, suite.world.harness);
  const page = await context.newPage();
  await page.goto(await linkFor('reloads@example.com'));
  await page.getByLabel('Your name').waitFor();
  expect(page.url()).toBe(`${CONSOLE_URL}/join`);
  await page.reload();
  await page.getByLabel('Your name').fill('Newcomer');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('invitation');
  await context.close();
});

test('somebody with a password who is invited again signs in on the page of the link, and accepts there', async () => {
  const first = await joinAs('invited-again@example.com');
  await first.context().close();
  const context = await publicContext(suite.browser, suite.world.harness);
  const page = await context.newPage();
  await page.goto(await linkFor('invited-again@example.com'));
  await page.getByRole('heading', { name: 'Sign in to accept the invitation' }).waitFor();
  const account = await accountName();
  expect(await page.getByLabel('Your name').count()).toBe(0);
  expect(await page.getByText(account).count(), 'a link alone does not tell it').toBe(0);
  expect(await page.getByLabel('Email address').inputValue()).toBe('invited-again@example.com');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Accept the invitation' }).waitFor();
  await page.getByText(`invited-again@example.com is invited to be a member of “${account}”.`).waitFor();
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await context.close();
});

test('the page of a link names what is missing in its form, and a link that was used is called that', async () => {
  const context = await publicContext(suite.browser, suite.world.harness);
  const page = await context.newPage();
  const link = await linkFor('in-a-hurry@example.com');
  await page.goto(link);
  const account = await accountName();
  await page.getByText(`in-a-hurry@example.com is invited to be a member of “${account}”.`).waitFor();
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByText('Enter your name.').waitFor();
  await page.getByLabel('Your name').fill('Newcomer');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.goto(link);
  await page.getByRole('heading', { name: 'This link does not work any more' }).waitFor();
  await page.getByText('or its sender may no longer invite').waitFor();
  await context.close();
});

test('a form that was open when the session ended is there again after the password, in the same tab', async () => {
  const page = await joinAs('again@example.com');
  await page.goto(`${CONSOLE_URL}/keys?dialog=mint`);
  await page.getByLabel('Name').fill('half-done');
  await endSession(page);
  await page.getByRole('button', { name: 'Mint key' }).click();
  await signInWithPassword(page, 'again@example.com');
  await page.getByRole('dialog').getByText('Your session had ended').waitFor();
  expect(await page.getByLabel('Name').inputValue()).toBe('half-done');
  await page.getByRole('button', { name: 'Mint key' }).click();
  await page.locator('[data-secret]').waitFor();
  await page.context().close();
});

async function accountName(): Promise<string> {
  return (await suite.world.harness.running.books.store.findAccount(suite.world.accountId))!.name;
}

/** Without a word to the page. */
async function endSession(page: Page): Promise<void> {
  // A request that is still on its way would be refused, and lead to the page for signing in by itself.
  await page.waitForLoadState('networkidle');
  await page.evaluate(
    `fetch('/manage/v1/sign-out', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })`,
  );
}
