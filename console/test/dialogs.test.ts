import { test } from 'vitest';
import { hostedSuite } from './hosted-suite.ts';

const suite = hostedSuite();
const { openAs } = suite;

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
