import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { formatId } from '../../src/kit/ids.ts';
import { hostedSuite } from './hosted-suite.ts';

const suite = hostedSuite();
const { openAs } = suite;

/** The text or label of what has the focus; the page itself has none. */
function focused(page: Page): Promise<unknown> {
  return page.evaluate(
    `document.activeElement === document.body ? null : document.activeElement.ariaLabel ?? document.activeElement.id + document.activeElement.role`,
  );
}

/** As two clicks do on a page that is too busy to disable the button between them. */
function submitTwice(page: Page): Promise<unknown> {
  return page.evaluate(`{
    const form = document.querySelector('[role="dialog"] form');
    form.requestSubmit();
    form.requestSubmit();
  }`);
}

async function mintedKey(): Promise<string> {
  const { harness, accountId } = suite.world;
  return formatId('key_', (await harness.mintFor(accountId)).keyId);
}

test('the dialog for a new password says that sessions end when its link is used, and they do not end before', async () => {
  const page = await openAs('operator', '/people');
  const member = await openAs('member', '/models');
  await page.getByRole('row', { name: /member@example.com/ }).click();
  await page.getByRole('button', { name: 'New password link' }).click();
  await page.getByText('Once it is used, their sessions').waitFor();
  await page.getByRole('button', { name: 'Make the link' }).click();
  await page.getByRole('button', { name: 'I have copied it' }).click();
  await member.reload();
  await member.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
  await Promise.all([page, member].map((each) => each.context().close()));
});

test('the snippets of a new key name models that the key may use, and that their clients can call', async () => {
  const page = await openAs('owner', '/keys?dialog=mint');
  const mint = async (models: string): Promise<void> => {
    await page.getByLabel('Name').fill('for a snippet');
    await page.getByLabel('Models').fill(models);
    await page.getByRole('button', { name: 'Mint key' }).click();
    await page.locator('[data-secret]').waitFor();
  };
  const snippet = page.getByRole('dialog').locator('pre');
  const client = (name: string) => page.getByRole('group', { name: 'Client' }).getByRole('button', { name });
  await mint('');
  await expect.poll(() => snippet.innerText()).toContain('"model":"sim-gpt-mini"');
  await client('Anthropic SDK').click();
  expect(await snippet.innerText()).toContain(`model: 'sim-claude'`);
  await page.getByRole('button', { name: 'I have copied it' }).click();
  await page.getByRole('button', { name: 'New key' }).click();
  await mint('sim-gpt');
  await expect.poll(() => snippet.innerText()).toContain('"model":"sim-gpt"');
  expect(await client('Anthropic SDK').count()).toBe(0);
  await page.context().close();
});

test('a failure is read out over a dialog, and dismissing it leaves the dialog open', async () => {
  const page = await openAs('owner', '/keys?dialog=mint');
  await page.getByLabel('Name').fill('copied-by-hand');
  await page.getByRole('button', { name: 'Mint key' }).click();
  await page.locator('[data-secret]').waitFor();
  await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`);
  await page.getByRole('button', { name: 'Copy secret' }).click();
  const told = page.locator('[aria-live="assertive"]').getByText('The browser did not allow copying.');
  await told.waitFor();
  // Found by its role only if the dialog does not hide it.
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await told.waitFor({ state: 'detached' });
  expect(await page.locator('[data-secret]').isVisible()).toBe(true);
  expect(await page.getByText('Copy it first').count()).toBe(0);
  await page.context().close();
});

test('a failure over a dialog is reached and dismissed by keyboard, which then goes on in the dialog', async () => {
  const page = await openAs('owner', '/keys?dialog=mint');
  await page.getByLabel('Name').fill('by-keyboard');
  await page.getByRole('button', { name: 'Mint key' }).click();
  await page.locator('[data-secret]').waitFor();
  await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`);
  await page.getByRole('button', { name: 'Copy secret' }).press('Enter');
  await page.getByText('The browser did not allow copying.').waitFor();
  const name = () => page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.textContent');
  await page.getByRole('button', { name: 'I have copied it' }).focus();
  await page.keyboard.press('Tab');
  expect(await name()).toBe('Dismiss');
  await page.keyboard.press('Tab');
  expect(await name(), 'the first element of the dialog').toBe('Copy secret');
  await page.keyboard.press('Shift+Tab');
  expect(await name()).toBe('Dismiss');
  await page.keyboard.press('Enter');
  await page.getByText('The browser did not allow copying.').waitFor({ state: 'detached' });
  expect(await name(), 'where it came from').toBe('Copy secret');
  await page.keyboard.press('Shift+Tab');
  expect(await name(), 'the dialog keeps the focus again').toBe('I have copied it');
  await page.context().close();
});

test('a form that is refused leaves the keyboard on its button, which sends it again', async () => {
  const page = await openAs('owner', '/keys?dialog=mint');
  await page.getByLabel('Name').fill('for-one-model');
  await page.getByLabel('Models').fill('no//name');
  const mint = page.getByRole('button', { name: 'Mint key' });
  await mint.press('Enter');
  await page.getByRole('alert').getByText('models[0] must be a name').waitFor();
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Mint key');
  await page.getByLabel('Models').fill('');
  await mint.press('Enter');
  await page.locator('[data-secret]').waitFor();
  await page.context().close();
});

test('a form that is being sent is not sent again by its button or by Enter in a field', async () => {
  const page = await openAs('owner', '/keys?dialog=mint');
  let sent = 0;
  let answer = (): void => undefined;
  await page.route('**/manage/v1/keys', async (route) => {
    if (route.request().method() === 'POST') sent += 1;
    await new Promise<void>((resolve) => (answer = resolve));
    await route.fallback();
  });
  await page.getByLabel('Name').fill('sent-once');
  await page.getByLabel('Name').press('Enter');
  const mint = page.getByRole('button', { name: 'Mint key' });
  await expect.poll(() => mint.isDisabled()).toBe(true);
  await page.getByLabel('Name').press('Enter');
  await mint.press('Enter');
  await mint.dispatchEvent('click');
  answer();
  await page.locator('[data-secret]').waitFor();
  expect(sent).toBe(1);
  await page.context().close();
});

test('a page that is gone to is read out, and the keyboard stays where it is', async () => {
  const page = await openAs('owner', '/models');
  await page.getByRole('heading', { level: 1, name: 'Models' }).waitFor();
  await page.getByRole('link', { name: 'Keys', exact: true }).press('Enter');
  await page
    .getByRole('status')
    .filter({ hasText: /^Keys$/ })
    .waitFor({ state: 'attached' });
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Keys');
  await page.context().close();
});

test('a key is not minted while its date is only partly typed, because it would never expire', async () => {
  const page = await openAs('owner', '/keys?dialog=mint');
  await page.getByLabel('Name').fill('until-the-end-of-the-year');
  await page.getByLabel('Expires after').focus();
  await page.keyboard.type('1231');
  await page.getByRole('button', { name: 'Mint key' }).click();
  await page.getByRole('alert').getByText('A date is not complete.').waitFor();
  expect(await page.locator('[data-secret]').count()).toBe(0);
  const year = new Date().getUTCFullYear() + 1;
  await page.getByLabel('Expires after').fill(`${year}-12-31`);
  const sent = page.waitForRequest((request) => request.method() === 'POST');
  await page.getByRole('button', { name: 'Mint key' }).click();
  expect(JSON.parse((await sent).postData()!)).toMatchObject({
    expires_at: Date.parse(`${year}-12-31T23:59:59Z`) / 1000,
  });
  await page.locator('[data-secret]').waitFor();
  await page.context().close();
});

test('changing the models of a key names those that no model has, as minting does', async () => {
  const page = await openAs('owner', `/keys?open=${await mintedKey()}`);
  await page.getByRole('button', { name: 'Change' }).click();
  await page.getByLabel('Models').fill('sim-gpt sim-gtp');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByText('No model has these names now: sim-gtp.').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('dialog').getByText('sim-gpt, sim-gtp').waitFor();
  await page.context().close();
});

test('an account whose name has two spaces can be closed by typing its name as it is shown', async () => {
  const page = await openAs('operator', '/accounts?dialog=account');
  await page.getByLabel('Name').fill('two  spaces');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('button', { name: /^Actions for two/ }).click();
  await page.getByRole('menuitem', { name: 'Close for good' }).click();
  await page.getByLabel('to confirm').fill('two spaces');
  await page.getByRole('button', { name: 'Close account' }).click();
  await page.getByText('is closed.').waitFor();
  await page.context().close();
});

test('two clicks at once mint one key, and submit a batch file once', async () => {
  await mintedKey();
  const page = await openAs('owner', '/keys?dialog=mint');
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') sent.push(new URL(request.url()).pathname);
  });
  await page.getByLabel('Name').fill('clicked-twice');
  await submitTwice(page);
  await page.getByRole('button', { name: 'I have copied it' }).click();
  await page.getByRole('link', { name: 'Jobs', exact: true }).click();
  await page.getByRole('button', { name: 'Submit a file' }).first().click();
  const body = { model: 'sim-gpt-mini', max_tokens: 8, messages: [{ role: 'user', content: 'Hello' }] };
  const line = JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body });
  const buffer = Buffer.from(line);
  await page.getByLabel('File', { exact: true }).setInputFiles({ name: 'a.jsonl', mimeType: 'text/plain', buffer });
  await page.getByRole('button', { name: 'Submit 1 job' }).waitFor();
  await submitTwice(page);
  await page.getByText('Accepted: 1 job.').waitFor();
  expect(sent).toEqual(['/manage/v1/keys', '/v1/jobs/groups']);
  await page.context().close();
});

test('a wrong current password is called that, without an email address that nobody has entered', async () => {
  const page = await openAs('owner', '/profile');
  await page.getByLabel('Current password').fill('not the right one');
  await page.getByLabel('New password').fill('long enough to be new');
  await page.getByRole('button', { name: 'Replace password' }).click();
  await page.getByRole('alert').getByText('The password is wrong. If you have none').waitFor();
  await page.context().close();
});

test('the link of an invitation that lost its last characters is called incomplete', async () => {
  const page = await openAs('viewer', '/join#abc%E');
  await page.getByRole('heading', { name: 'This link is not complete' }).waitFor();
  await page.context().close();
});

describe('after a dialog the keyboard is', () => {
  test('on the button of the menu that the dialog came from', async () => {
    const page = await openAs('operator', '/accounts');
    await page.getByRole('button', { name: /^Actions for/ }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('menuitem', { name: 'Rename' }).press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => focused(page)).toMatch(/^Actions for/);
    await page.context().close();
  });

  test('in the drawer if the button that opened the dialog is gone', async () => {
    const page = await openAs('owner', `/keys?open=${await mintedKey()}`);
    await page.getByRole('button', { name: 'Disable' }).press('Enter');
    await page.getByRole('button', { name: 'Disable key' }).press('Enter');
    await page.getByRole('button', { name: 'Enable' }).waitFor();
    await expect.poll(() => focused(page)).toContain('dialog');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.context().close();
  });

  test('in the drawer of a key that was chosen in the search, wherever it was before', async () => {
    await mintedKey();
    const page = await openAs('owner', '/keys');
    await page.getByLabel('Search keys').focus();
    await page.keyboard.press('Control+k');
    await page.getByRole('group', { name: 'Keys', exact: true }).getByRole('option').first().click();
    await page.locator('[data-drawer]').waitFor();
    await expect.poll(() => page.evaluate(`document.activeElement.hasAttribute('data-drawer')`)).toBe(true);
    await page.context().close();
  });
});
