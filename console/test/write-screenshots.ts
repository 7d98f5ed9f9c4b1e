import { mkdirSync, writeFileSync } from 'node:fs';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { Secret } from '../../src/kit/secret.ts';
import { startHarness } from '../../test/harness.ts';
import { launchBrowser } from './browser.ts';
import setup from './build-setup.ts';
import { startFullDemo } from './demo-people.ts';
import { CONSOLE_URL, publicContext, signInAs, startHosted } from './hosted.ts';
import { ManageClient } from './manage-client.ts';
import { shrinkPng } from './small-png.ts';
import { showView, VIEWS, type View } from './views.ts';

const FOLDER = new URL('../../docs/console/', import.meta.url);
const BYTES_MAX = 150_000;

const COMMON = { reducedMotion: 'reduce', timezoneId: 'UTC' } as const;
const LOOKS = [
  { name: 'light', options: { ...COMMON, colorScheme: 'light', viewport: { width: 1440, height: 900 } } },
  { name: 'dark', options: { ...COMMON, colorScheme: 'dark', viewport: { width: 1440, height: 900 } } },
  { name: 'narrow', options: { ...COMMON, colorScheme: 'light', viewport: { width: 390, height: 844 } } },
] as const;
type Look = (typeof LOOKS)[number];

/** Something to take pictures of. */
interface Subject extends Omit<View, 'path'> {
  readonly url: string;
  newContext(look: Look): Promise<BrowserContext>;
}

async function shoot({ url, newContext, ...view }: Subject, look: Look): Promise<void> {
  const { name } = view;
  const context = await newContext(look);
  const page = await context.newPage();
  await page.goto(url);
  await showView(page, view);
  const file = new URL(`${name}-${look.name}.png`, FOLDER);
  const picture = shrinkPng(await page.screenshot());
  writeFileSync(file, picture);
  const size = picture.length;
  process.stdout.write(`${name}-${look.name}.png ${Math.ceil(size / 1000)} KB\n`);
  if (size > BYTES_MAX) throw new Error(`${file.pathname} has more than ${BYTES_MAX} bytes.`);
  await context.close();
}

const [only] = process.argv.slice(2);
const isWanted = (name: string): boolean => only === undefined || only === name;

async function shootAll(subjects: readonly Subject[]): Promise<void> {
  for (const subject of subjects.filter(({ name }) => isWanted(name)))
    for (const look of LOOKS) await shoot(subject, look);
}

/** Every page of a gateway that was used for a month. */
async function shootDemo(browser: Browser): Promise<void> {
  if (!VIEWS.some(({ name }) => isWanted(name))) return;
  const demo = await startFullDemo();
  const newContext = (look: Look): Promise<BrowserContext> => browser.newContext(look.options);
  const console = `${demo.harness.url}/console`;
  await shootAll(
    VIEWS.map((view) => ({ ...view, url: `${console}${view.path(demo)}#token=${demo.manage.token}`, newContext })),
  );
  await demo.harness.stop();
}

/** What somebody sees first, before and after the first call. */
async function shootEmpty(browser: Browser): Promise<void> {
  if (!isWanted('first-call') && !isWanted('first-receipt')) return;
  const harness = await startHarness();
  const url = `${harness.url}/console#token=${new ManageClient(harness).token}`;
  const ready = 'text=Make the first call';
  const newContext = (look: Look): Promise<BrowserContext> => browser.newContext(look.options);
  const prepare = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'Make the call' }).click();
    await page.getByRole('table', { name: 'What the call cost' }).waitFor();
  };
  await shootAll([{ name: 'first-call', url, ready, newContext }]);
  if (isWanted('first-receipt')) await shoot({ name: 'first-receipt', url, ready, newContext, prepare }, LOOKS[0]);
  await harness.stop();
}

/** Pages that only hosted mode has. */
async function shootHosted(browser: Browser): Promise<void> {
  if (!isWanted('sign-in') && !isWanted('profile')) return;
  // The page names the provider; nobody is sent there.
  const sso = {
    issuer: 'https://accounts.example.com',
    clientId: 'tollgate',
    clientSecret: new Secret('of the pictures'),
    allowedDomains: [],
  };
  const world = await startHosted({ sso });
  const newContext = (look: Look): Promise<BrowserContext> => publicContext(browser, world.harness, look.options);
  const signedIn = async (look: Look): Promise<BrowserContext> => {
    const context = await newContext(look);
    await signInAs(context, world, 'owner', { address: '203.0.113.7', userAgent: 'Firefox 150 on Linux' });
    return context;
  };
  await shootAll([
    { name: 'sign-in', url: CONSOLE_URL, ready: 'role=heading[name="Sign in"]', newContext },
    { name: 'profile', url: `${CONSOLE_URL}/profile`, ready: 'text=this browser', newContext: signedIn },
  ]);
  await world.stop();
}

await setup();
mkdirSync(FOLDER, { recursive: true });
const browser = await launchBrowser();
try {
  await shootDemo(browser);
  await shootEmpty(browser);
  await shootHosted(browser);
} finally {
  await browser.close();
}
