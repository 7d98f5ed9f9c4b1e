import { describe, expect, test } from 'vitest';
import { nanousdIn } from './amounts.ts';
import { startFullDemo } from './demo-people.ts';
import { demoSuite } from './demo-suite.ts';

const suite = demoSuite(startFullDemo);

describe('models', () => {
  test('are found by name and capability, and the calculator charges what a receipt charges', async () => {
    const { data } = await suite.demo.manage.get(`/receipts?account=${suite.demo.account}&model=sim-claude&limit=1`);
    const [{ usage, cost_nanousd }] = data;
    const { page, complaints, close } = await suite.open(`/models?account=${suite.demo.account}`);
    await page.getByLabel('Search models').fill('claude');
    await page.getByRole('button', { name: 'tools' }).click();
    await page.getByRole('row', { name: /sim-claude/ }).click();
    await page.getByLabel('Fresh input').fill(String(usage.fresh_tokens));
    await page.getByLabel('Cached').fill(String(usage.cache_read_tokens));
    await page.getByLabel('Output', { exact: true }).fill(String(usage.output_tokens));
    const costs = page
      .getByRole('row', { name: /^Costs/ })
      .locator('td')
      .last();
    await expect.poll(async () => nanousdIn(await costs.textContent())).toBe(BigInt(cost_nanousd));
    expect(new URL(page.url()).searchParams.get('caps')).toBe('tools');
    expect(complaints).toEqual([]);
    await close();
  });

  test('quote a prompt without calling the model', async () => {
    const before = suite.demo.harness.sim.received();
    const { page, complaints, close } = await suite.open(`/models?account=${suite.demo.account}&open=sim-gpt-mini`);
    await page.getByLabel('Prompt').fill('Which invoices are still open?');
    await page.getByLabel('Output limit').fill('100');
    await page.getByRole('button', { name: 'Get a quote' }).click();
    await page.getByText('yes, the call would run').waitFor();
    expect(suite.demo.harness.sim.received()).toBe(before);
    expect(complaints).toEqual([]);
    await close();
  });
});

describe('balance', () => {
  test('credits an account once per reference, and shows the entry', async () => {
    const { page, complaints, close } = await suite.open(`/balance?account=${suite.demo.account}`);
    for (const answer of [/^Credited/, /“invoice-1003” was recorded before; nothing was changed/]) {
      await page.getByRole('button', { name: 'Add credit' }).click();
      await page.getByLabel('Amount', { exact: true }).fill('12.50');
      await page.getByLabel('Reference').fill('invoice-1003');
      await page.getByRole('dialog').getByRole('button', { name: 'Add credit' }).click();
      await page.getByText(answer).waitFor();
    }
    await page.getByRole('cell', { name: 'invoice-1003' }).waitFor();
    const { data } = await suite.demo.manage.get(`/accounts/${suite.demo.account}/entries`);
    const credited = data.filter(({ reference }: { reference: string }) => reference === 'invoice-1003');
    expect(credited).toMatchObject([{ type: 'credit', amount_nanousd: 12_500_000_000 }]);
    expect(complaints).toEqual([]);
    await close();
  });
});

describe('jobs', () => {
  test('says that a batch file cannot be read', async () => {
    const { page, complaints, close } = await suite.open(`/jobs?account=${suite.demo.account}`);
    await page.getByRole('button', { name: 'Submit a file' }).click();
    // As if the file was deleted after it was chosen.
    await page.evaluate('Blob.prototype.text = () => Promise.reject(new Error())');
    const file = { name: 'batch.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from('{}') };
    await page.getByLabel('File', { exact: true }).setInputFiles(file);
    await page.getByText('The file cannot be read. Choose it again.').waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('submits a batch file, follows it, and shows a result', async () => {
    const { page, complaints, close } = await suite.open(`/jobs?account=${suite.demo.account}`);
    const line = (custom_id: string) =>
      JSON.stringify({
        ...{ custom_id, method: 'POST', url: '/v1/chat/completions' },
        body: { model: 'sim-gpt-mini', max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] },
      });
    await page.getByRole('button', { name: 'Submit a file' }).click();
    await page.getByLabel('File', { exact: true }).setInputFiles({
      ...{ name: 'batch.jsonl', mimeType: 'application/jsonl' },
      buffer: Buffer.from(`${line('first')}\n${line('second')}\n`),
    });
    await page.getByLabel('Paid by').selectOption(suite.demo.keys.find(({ name }) => name === 'search-index')!.id);
    await page.getByRole('button', { name: 'Submit 2 jobs' }).click();
    await page.getByText('Accepted: 2 jobs.').waitFor();
    await page.getByRole('row', { name: /second/ }).click();
    await page.getByRole('button', { name: 'Show the result' }).click();
    await page.getByRole('dialog').getByText('chat.completion').waitFor();
    expect(complaints).toEqual([]);
    await close();
  });
});

test('a job shows its metadata apart from its own facts, and is cancelled only after a question', async () => {
  const { page, complaints, close } = await suite.open(`/jobs?account=${suite.demo.account}`);
  await page.getByRole('row', { name: /nightly-report scheduled/ }).click();
  await page.getByRole('dialog').getByText('team=reports Status=urgent').waitFor();
  await page.getByRole('button', { name: 'Cancel job' }).click();
  const question = page.getByRole('dialog', { name: 'Cancel “nightly-report”' });
  await question.getByRole('button', { name: 'Keep it' }).click();
  await question.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Cancel job' }).click();
  await question.getByRole('button', { name: 'Cancel job' }).click();
  await page.getByText('The job is cancelled.').waitFor();
  await page.getByRole('row', { name: /nightly-report cancelled/ }).waitFor();
  const { reserved_nanousd } = await suite.demo.manage.get(`/accounts/${suite.demo.account}/balance`);
  expect(reserved_nanousd).toBe(0);
  expect(complaints).toEqual([]);
  await close();
});

test('an operator sees losses of a host by reason, and where settings come from', async () => {
  const { page, complaints, close } = await suite.open('/hosts?open=sim');
  await page.getByRole('heading', { name: 'What no caller paid for' }).waitFor();
  await page.goto(`${suite.demo.harness.url}/console/system?q=listen.port`);
  await page.getByRole('row', { name: /listen\.port.*--port/ }).waitFor();
  await page.getByText('all can be decrypted').waitFor();
  expect(complaints).toEqual([]);
  await close();
});

describe('members', () => {
  test('invites somebody, shows the link once, and revokes the invitation', async () => {
    const { page, complaints, close } = await suite.open(`/members?account=${suite.demo.account}`);
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByLabel('Email address').fill('fritz@example.org');
    await page.getByLabel('Cap of the person').fill('5');
    await page.getByRole('button', { name: 'Make the link' }).click();
    const link = await page.locator('[data-secret]').textContent();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    expect(await page.content()).not.toContain(link);
    await page.getByRole('row', { name: /fritz/ }).getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('The invitation of fritz@example.org is revoked.').waitFor();
    await page.getByRole('button', { name: 'Ended' }).click();
    const ended = page.getByRole('table', { name: 'Ended invitations' });
    await ended.getByRole('row', { name: /fritz@example.org.*revoked/ }).waitFor();
    expect(complaints).toEqual([]);
    await close();
  });

  test('changes the role and the cap of a person', async () => {
    const { page, close } = await suite.open(`/members?account=${suite.demo.account}`);
    await page
      .getByRole('row', { name: /dora@/ })
      .getByRole('button', { name: /Actions/ })
      .click();
    await page.getByRole('menuitem', { name: 'Change role or cap' }).click();
    await page.getByLabel('Role', { exact: true }).selectOption('member');
    await page.getByLabel('Cap of the person').fill('3');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Dora Silva is a member.').waitFor();
    const { data } = await suite.demo.manage.get(`/accounts/${suite.demo.account}/members`);
    expect(data.find(({ email }: { email: string }) => email === 'dora@example.org')).toMatchObject({
      ...{ role: 'member', spend_cap_nanousd: 3_000_000_000, window: 'lifetime' },
    });
    await close();
  });
});

test('a link for an operator is listed until it is used, and can be revoked', async () => {
  const { page, close } = await suite.open('/people');
  await page.getByRole('button', { name: 'Invite an operator' }).click();
  await page.getByLabel('Email address').fill('mistyped@example.org');
  await page.getByRole('button', { name: 'Make the link' }).click();
  await page.getByRole('button', { name: 'I have copied it' }).click();
  await page.getByRole('button', { name: 'Invitations' }).click();
  const row = page.getByRole('row', { name: /mistyped@example.org.*operator/ });
  await row.getByRole('button', { name: 'Revoke' }).click();
  await row.waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('button', { name: 'Ended' }).click();
  await page.getByRole('row', { name: /mistyped@example.org.*revoked/ }).waitFor();
  await close();
});

test('people are disabled, and told apart from those who can sign in', async () => {
  const { page, complaints, close } = await suite.open('/people?q=cem');
  await page.getByRole('row', { name: /cem@/ }).click();
  await page.getByRole('button', { name: 'Disable' }).click();
  await page.getByRole('button', { name: 'Disable person' }).click();
  await page.getByRole('row', { name: /cem@.*disabled/ }).waitFor();
  expect(complaints).toEqual([]);
  await close();
});

test('a stored provider key is verified again and removed', async () => {
  const { page, complaints, close } = await suite.open(`/provider-keys?account=${suite.demo.account}`);
  await page.getByRole('button', { name: 'Actions for cloud' }).click();
  await page.getByRole('menuitem', { name: 'Verify again' }).click();
  await page.getByText('The provider accepts the key.').waitFor();
  await page.getByRole('button', { name: 'Actions for cloud' }).click();
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  await page.getByRole('button', { name: 'Remove key' }).click();
  await page.getByText('No provider key is stored').waitFor();
  expect((await suite.demo.manage.get(`/accounts/${suite.demo.account}/provider-keys`)).data).toEqual([]);
  expect(complaints).toEqual([]);
  await close();
});

test('an alert is acknowledged', async () => {
  const { page, complaints, close } = await suite.open(`/alerts?account=${suite.demo.account}&kind=key_cap`);
  const row = page.getByRole('row', { name: /support-bot/ });
  const acknowledge = row.getByRole('button', { name: 'Acknowledge' });
  await acknowledge.click();
  await acknowledge.waitFor({ state: 'detached' });
  await row.getByText('just now').last().waitFor();
  const { data } = await suite.demo.manage.get(`/alerts?account=${suite.demo.account}&kind=key_cap`);
  const seen = data.filter(({ acknowledged_at }: { acknowledged_at: number | null }) => acknowledged_at !== null);
  expect(seen).toHaveLength(1);
  expect(complaints).toEqual([]);
  await close();
});

test('a webhook gets a secret, which is shown once, and a test event, and no other one replaces it', async () => {
  const { page, complaints, close } = await suite.open(`/webhooks?account=${suite.demo.account}`);
  await page.getByRole('button', { name: 'New webhook' }).click();
  await page.getByLabel('Name').fill('chat');
  await page.getByLabel('URL').fill('https://hooks.example.com/chat');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  const secret = await page.locator('[data-secret]').textContent();
  await page.getByRole('button', { name: 'I have copied it' }).click();
  expect(await page.content()).not.toContain(secret);
  await page.getByRole('row', { name: /chat/ }).click();
  await page.getByRole('button', { name: 'Send a test' }).click();
  await page.getByRole('cell', { name: 'webhook.test' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'New webhook' }).click();
  await page.getByLabel('URL').fill('https://hooks.example.com/other');
  await page.getByLabel('Name').fill('chat');
  await page.getByText('There is a webhook of this name.').waitFor();
  expect(await page.getByRole('button', { name: 'Create webhook' }).isDisabled()).toBe(true);
  expect(complaints).toEqual([]);
  await close();
});

test('a management key is minted with an end and a role, its secret is shown once, and it is revoked', async () => {
  const { page, complaints, close } = await suite.open(`/management-keys?account=${suite.demo.account}`);
  await page.getByRole('button', { name: 'New management key' }).click();
  await page.getByLabel('Name').fill('reports');
  await page.getByLabel('May act as').selectOption('viewer');
  await page.getByRole('button', { name: 'Mint key' }).click();
  const secret = (await page.locator('[data-secret]').textContent())!;
  const me = await fetch(`${suite.demo.harness.url}/manage/v1/me`, { headers: { authorization: `Bearer ${secret}` } });
  expect(await me.json()).toMatchObject({ roles: [{ account: suite.demo.account, role: 'viewer' }], operator: false });
  await page.getByRole('button', { name: 'I have copied it' }).click();
  expect(await page.content()).not.toContain(secret);
  await page
    .getByRole('row', { name: /reports/ })
    .getByRole('button', { name: 'Revoke' })
    .click();
  await page.getByRole('button', { name: 'Revoke key' }).click();
  await page.getByRole('row', { name: /reports.*revoked/ }).waitFor();
  expect(complaints).toEqual([]);
  await close();
});

test('the audit shows who changed what, by action, with before and after', async () => {
  const [key] = suite.demo.keys;
  await suite.demo.manage.patch(`/keys/${key!.id}`, { note: 'Answers letters' });
  const { page, complaints, close } = await suite.open(`/audit?account=${suite.demo.account}`);
  await page.getByLabel('Action').selectOption('key.change');
  await page.getByRole('row', { name: /note/ }).first().click();
  await page
    .getByRole('row', { name: /note.*Answers letters/ })
    .last()
    .waitFor();
  expect(new URL(page.url()).searchParams.get('action')).toBe('key.change');
  const heads = () => page.getByRole('table', { name: 'What changed' }).getByRole('columnheader').allInnerTexts();
  expect(await heads()).toEqual(['Field', 'Before', 'After']);
  await page.getByLabel('Action').selectOption('key.mint');
  await page
    .getByRole('row', { name: /Minted a key/ })
    .first()
    .click();
  await page.getByRole('dialog').getByText('key.mint').waitFor();
  expect(await heads(), 'a new key had no values before').toEqual(['Field', 'Value']);
  expect(complaints).toEqual([]);
  await close();
});

test('filters that a link sets are shown where it leads, and can be removed there', async () => {
  const { page, complaints, close } = await suite.open('/hosts?open=sim');
  await page.getByRole('link', { name: 'Its requests' }).click();
  await page.getByLabel('Host', { exact: true }).selectOption('any');
  await expect.poll(() => new URL(page.url()).searchParams.has('host')).toBe(false);
  const [key] = suite.demo.keys;
  const audit = `/console/audit?account=${suite.demo.account}`;
  await page.goto(`${suite.demo.harness.url}${audit}&subject=${key!.id}&actor=bo@example.org`);
  await page.getByText('No change matches the filters').waitFor();
  await page.getByLabel('By whom').fill('');
  await page.getByRole('cell', { name: 'Minted a key' }).waitFor();
  expect(await page.getByRole('row').count()).toBeLessThan(5);
  await page.goBack();
  expect(await page.getByLabel('By whom').inputValue()).toBe('bo@example.org');
  await page.goForward();
  await page.getByLabel('What', { exact: true }).selectOption('any');
  await page.getByRole('cell', { name: 'Created an account' }).waitFor();
  expect(complaints).toEqual([]);
  await close();
});

test('the ledger is verified from the page, and its report is shown', async () => {
  const { page, complaints, close } = await suite.open('/system');
  await page.getByRole('button', { name: 'Verify now' }).click();
  await page.getByText('all amounts agree').waitFor();
  expect((await suite.demo.manage.get('/system/verify')).report.ok).toBe(true);
  expect(complaints).toEqual([]);
  await close();
});

test('an account is created, suspended and resumed', async () => {
  const { page, complaints, close } = await suite.open('/accounts');
  await page.getByRole('button', { name: 'New account' }).click();
  await page.getByLabel('Name').fill('initech');
  await page.getByRole('button', { name: 'Create account' }).click();
  for (const [item, button, state] of [
    ['Suspend', 'Suspend account', 'suspended'],
    ['Resume', 'Resume account', 'active'],
  ] as const) {
    await page.getByRole('button', { name: 'Actions for initech' }).click();
    await page.getByRole('menuitem', { name: item }).click();
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('row', { name: new RegExp(`initech ${state}`) }).waitFor();
  }
  expect(complaints).toEqual([]);
  await close();
});

test('a host shows its state, its prices and what went through it', async () => {
  const { page, complaints, close } = await suite.open('/hosts');
  await page.getByRole('row').nth(1).click();
  const drawer = page.getByRole('dialog');
  await drawer.getByText('Latest problems').waitFor();
  await drawer.getByRole('table', { name: 'Models of the host' }).waitFor();
  expect(complaints).toEqual([]);
  await close();
});

test('a drawer and a dialog show a long name whole', async () => {
  const { manage, account } = suite.demo;
  const name = 'x'.repeat(99);
  const { id } = await manage.post('/keys', { account, name });
  const options = { viewport: { width: 390, height: 844 } };
  const { page, close } = await suite.open(`/keys?account=${account}&open=${id}`, options);
  const isWhole = async (heading: string): Promise<boolean> => {
    const box = (await page.getByRole('dialog').getByRole('heading', { name: heading }).boundingBox())!;
    return box.y >= 8 && box.x + box.width <= 390 - 28;
  };
  await page.getByRole('button', { name: 'Disable' }).click();
  expect(await isWhole(`Disable “${name}”`)).toBe(true);
  await page.getByRole('button', { name: 'Cancel' }).click();
  expect(await isWhole(name)).toBe(true);
  await close();
});

test('long names and large amounts are whole or cut on a phone, and no page is wider than it', async () => {
  const { manage, account, harness } = suite.demo;
  const name = 'a-very-long-name-without-a-space-'.repeat(3);
  await manage.post('/keys', { account, name, spend_cap_nanousd: '100000000000000', window: 'month' });
  const other = await manage.post('/accounts', { name });
  await manage.post(`/accounts/${other.id}/credits`, { amount_nanousd: '1234567890000000' });
  const { page, complaints, close } = await suite.open('/models', { viewport: { width: 390, height: 844 } });
  for (const path of [`/keys?account=${account}`, '/accounts', '/balance', `/balance?account=${other.id}`]) {
    await page.goto(`${harness.url}/console${path}`);
    await page
      .getByText(path.startsWith('/balance?') ? 'since the account was created' : name)
      .first()
      .waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(390);
  }
  await page.locator('.text-figure', { hasText: '$1,234,567.89' }).first().waitFor();
  const figures = `[...document.querySelectorAll('.text-figure')]`;
  expect(await page.evaluate(`${figures}.every((each) => each.scrollWidth <= each.clientWidth)`)).toBe(true);
  await page.getByRole('button', { name: 'Pages' }).click();
  await page.getByRole('button', { name: /available$/ }).click();
  const menu = (await page.getByRole('menu').boundingBox())!;
  expect(menu.x + menu.width).toBeLessThanOrEqual(390);
  expect(complaints).toEqual([]);
  await close();
});
