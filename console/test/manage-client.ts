import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Harness } from '../../test/harness.ts';

// biome-ignore lint/suspicious/noExplicitAny: what the API answers is checked by the tests that read it.
type Answer = any;

/** The management API, as the operator of local mode. */
export class ManageClient {
  readonly #harness: Harness;
  readonly token: string;

  constructor(harness: Harness) {
    this.#harness = harness;
    this.token = readFileSync(join(harness.folder, 'console.token'), 'utf8').trim();
  }

  get(path: string): Promise<Answer> {
    return this.#send('GET', path);
  }

  post(path: string, body: object = {}): Promise<Answer> {
    return this.#send('POST', path, body);
  }

  put(path: string, body: object): Promise<Answer> {
    return this.#send('PUT', path, body);
  }

  patch(path: string, body: object): Promise<Answer> {
    return this.#send('PATCH', path, body);
  }

  delete(path: string): Promise<Answer> {
    return this.#send('DELETE', path, {});
  }

  async #send(method: string, path: string, body?: object): Promise<Answer> {
    const response = await fetch(`${this.#harness.url}/manage/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  }
}
