import { existsSync } from 'node:fs';
import sparticuz from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';

/** A real Chromium: the one that CHROME_PATH names, or the one in an npm package. */
export async function launchBrowser(more: readonly string[] = []): Promise<Browser> {
  const args = [...ARGUMENTS, ...more];
  const own = process.env.CHROME_PATH;
  if (own !== undefined && own !== '') {
    if (!existsSync(own)) throw new Error(`CHROME_PATH names ${own}, and there is no such file.`);
    return chromium.launch({ executablePath: own, args });
  }
  // Without the package's own arguments: they switch off the browser's protections, which are tested here.
  return chromium.launch({ executablePath: await sparticuz.executablePath(), args });
}

const ARGUMENTS = ['--no-sandbox', '--no-zygote', '--disable-gpu', '--font-render-hinting=none'];
