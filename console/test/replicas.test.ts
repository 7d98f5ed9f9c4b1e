import { test } from 'vitest';
import { CONSOLE_URL } from './hosted.ts';
import { hostedSuite } from './hosted-suite.ts';

const suite = hostedSuite();
const { openAs } = suite;

test('a verification of the ledger is followed to its end, although every second answer is from a replica without one', async () => {
  const page = await openAs('operator', '/models');
  const task = { object: 'verification_task', started: null, ended: null, rows_read: 0, rows_total: 0, report: null };
  const other = { ...task, status: 'none', reason: null };
  let asked = 0;
  await page.route(/\/manage\/v1\/system\/verify$/, (route) => {
    if (route.request().method() !== 'GET') return route.fallback();
    asked += 1;
    // Also when the page asks for the first time after the start.
    return asked < 3 || asked % 2 === 0 ? route.fulfill({ json: other }) : route.fallback();
  });
  await page.getByRole('link', { name: 'System' }).click();
  await page.getByText('It has not run since').waitFor();
  await page.getByRole('button', { name: 'Verify now' }).click();
  await page.getByText('all amounts agree').waitFor();
  await page.context().close();
});

test('a verification whose replica was stopped does not keep the next one from being started', async () => {
  const page = await openAs('operator', '/models');
  await page.clock.install();
  const task = { object: 'verification_task', ended: null, rows_read: 0, rows_total: 0, report: null, reason: null };
  await page.route(/\/manage\/v1\/system\/verify$/, (route) => {
    const isStart = route.request().method() === 'POST';
    const started = Math.floor(Date.now() / 1000);
    const json = isStart ? { ...task, status: 'running', started } : { ...task, status: 'none', started: null };
    return route.fulfill({ json });
  });
  await page.getByRole('link', { name: 'System' }).click();
  await page.getByRole('button', { name: 'Verify now' }).click();
  await page.getByRole('button', { name: 'Verifying', disabled: true }).waitFor();
  for (let second = 0; second < 25; second++) {
    await page.clock.runFor(1_000);
    // Whatever was asked for before has its answer when this has.
    await page.evaluate(`fetch('/manage/v1/me').then(() => null)`);
  }
  await page.getByRole('button', { name: 'Verify now', disabled: false }).waitFor();
  await page.context().close();
});

test('an operator reads that states of hosts are those of one replica, where there may be several', async () => {
  const page = await openAs('operator', '/models');
  await page.route(/\/manage\/v1\/system$/, async (route) => {
    const url = route.request().url().replace(new URL(CONSOLE_URL).origin, suite.world.harness.url);
    const response = await route.fetch({ url });
    const system = (await response.json()) as { readonly settings: object };
    await route.fulfill({ response, json: { ...system, settings: { ...system.settings, store: 'postgres' } } });
  });
  await page.getByRole('link', { name: 'Hosts' }).click();
  await page.getByText('states and troubles are those of the one that has answered').waitFor();
  await page.getByRole('link', { name: 'System' }).click();
  await page.getByText('this is the one that has answered').waitFor();
  await page.context().close();
});

test('a page says that it has not loaded if another replica does not have its script', async () => {
  const page = await openAs('owner', '/models');
  await page.route(/\/assets\/index-.*\.js$/, (route) =>
    route.fulfill({ status: 404, body: 'There is no such file.\n' }),
  );
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(CONSOLE_URL);
  await page.getByText('The console has not loaded.').waitFor();
  await page.context().close();
});

test('a part that another version of the gateway does not have is named, with a way to load the page again', async () => {
  const page = await openAs('owner', '/models');
  await page.getByRole('heading', { name: 'Models' }).waitFor();
  await page.route(/\/assets\/palette-.*\.js$/, (route) =>
    route.fulfill({ status: 404, body: 'There is no such file.\n' }),
  );
  await page.keyboard.press('Control+K');
  await page.getByRole('alert').getByText('A part of the console could not be loaded.').waitFor();
  await page.unroute(/\/assets\/palette-.*\.js$/);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { name: 'Models' }).waitFor();
  await page.context().close();
});
