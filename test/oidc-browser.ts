import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface RunningProvider {
  readonly issuer: string;
  stop(): Promise<void>;
}

export async function startProvider(settings: object): Promise<RunningProvider> {
  const file = join(import.meta.dirname, 'oidc-provider-process.ts');
  const child: ChildProcess = spawn(process.execPath, ['--no-warnings', file, JSON.stringify(settings)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  const line = once(createInterface({ input: child.stdout! }), 'line');
  const [issuer] = (await Promise.race([line, ended.then(() => Promise.reject(new Error('The provider ended.')))])) as [
    string,
  ];
  return {
    issuer,
    stop: async () => {
      child.kill();
      await ended;
    },
  };
}

/** A browser that signs in at the provider: it keeps cookies by host and follows redirects until it is sent back. */
export class OidcBrowser {
  readonly #jar = new Map<string, Map<string, string>>();

  /** From the provider's page to the address to which the provider sends the browser back. */
  async signInAs(name: string, url: string, backTo: string): Promise<URL> {
    let at = new URL(url);
    for (let hops = 0; hops < 10; hops++) {
      if (at.pathname.startsWith('/interaction/')) at.searchParams.set('as', name);
      const response = await fetch(at, { redirect: 'manual', headers: { cookie: this.cookies(at.host) } });
      this.keep(at.host, response);
      const location = response.headers.get('location');
      if (location === null) throw new Error(`${at.pathname} answers ${response.status}: ${await response.text()}`);
      at = new URL(location, at);
      if (at.href.startsWith(backTo)) return at;
    }
    throw new Error('The provider redirects without end.');
  }

  cookies(host: string): string {
    return [...(this.#jar.get(host) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  keep(host: string, response: Response): void {
    const jar = this.#jar.get(host) ?? new Map<string, string>();
    this.#jar.set(host, jar);
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      if (value === '') jar.delete(name!);
      else jar.set(name!, value!);
    }
  }
}
