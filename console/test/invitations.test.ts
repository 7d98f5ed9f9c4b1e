import { expect, test } from 'vitest';
import { startDemo } from './demo-data.ts';
import { demoSuite } from './demo-suite.ts';

const suite = demoSuite(startDemo);

test('an open invitation is listed without reading earlier ones, however many of them have ended', async () => {
  const { manage, account } = suite.demo;
  const invite = (email: string) => manage.post('/invitations', { email, account, role: 'viewer' });
  for (let made = 0; made < 201; made++) {
    const { id } = await invite(`gone-${made}@example.org`);
    await manage.delete(`/invitations/${id}`);
  }
  await invite('late@example.org');
  const { page, close } = await suite.open('/models');
  const read: (string | null)[] = [];
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url());
    if (pathname.endsWith('/invitations') && searchParams.get('limit') !== '1') read.push(searchParams.get('status'));
  });
  await page.goto(`${suite.demo.harness.url}/console/members?account=${account}`);
  const open = page.getByRole('table', { name: 'Open invitations' });
  await open.getByRole('row', { name: /late@/ }).waitFor();
  expect(await open.getByRole('row', { name: /gone-/ }).count()).toBe(0);
  expect(read).toEqual(['open']);
  await page.getByRole('button', { name: 'Ended' }).click();
  const ended = page.getByRole('table', { name: 'Ended invitations' });
  await ended.getByRole('row', { name: /gone-200@/ }).waitFor();
  expect(await ended.getByRole('row', { name: /late@/ }).count()).toBe(0);
  await close();
});
