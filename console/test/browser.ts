import { existsSync } from 'node:fs';
import sparticuz from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';

/** A real Chromium, without the npm package's own arguments: they switch off protections that are tested here. */
export async function launchBrowser(more: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: await chromiumPath(), args: [...ARGUMENTS, ...more] });
}

/** The Chromium that CHROME_PATH names, or the one in an npm package, which the first call on a machine unpacks. */
export async function chromiumPath(): Promise<string> {
  const own = process.env.CHROME_PATH;
  if (own === undefined || own === '') return sparticuz.executablePath();
  if (!existsSync(own)) throw new Error(`CHROME_PATH names ${own}, and there is no such file.`);
  return own;
}

const ARGUMENTS = ['--no-sandbox', '--no-zygote', '--disable-gpu', '--font-render-hinting=none'];
