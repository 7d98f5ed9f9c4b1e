import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { launchBrowser } from '../../console/test/browser.ts';

/** A page of another origin than the gateway's, with one script. */
export class BrowserPage {
  readonly #server: Server;
  #script = '';

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(): Promise<BrowserPage> {
    const server = createServer();
    const page = new BrowserPage(server);
    server.on('request', ({ url }, response) => {
      const isScript = url === '/bundle.js';
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
      response.end(isScript ? page.#script : '<!doctype html><title>A page</title>');
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    return page;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Bundles a program of the project, runs it in the page, and returns its `result`. */
  async run(project: string, program: string): Promise<string> {
    const input = join(project, 'page.js');
    writeFileSync(input, `${program}\nexport { result };`);
    const bundle = await rolldown({ input, platform: 'browser', logLevel: 'silent' });
    const { output } = await bundle.generate({ format: 'es', minify: true });
    this.#script = output[0].code;
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(this.origin);
      return await page.evaluate<string>("import('/bundle.js').then(({ result }) => result)");
    } finally {
      await browser.close();
    }
  }

  close(): void {
    this.#server.close();
  }
}
