import { expect } from 'vitest';
import { type CloudResource, startResource } from './cloud-resource.ts';
import { type Harness, type HarnessOptions, type MintedKey, NO_RATE_LIMITS, startHarness } from './harness.ts';

export const API_KEY = 'own-key-of-the-caller-0123456789-tail';
export const ASK = { messages: [{ role: 'user', content: 'hello' }] } as const;

/** A key that may store and delete the account's provider keys. */
export const OWNER = { permissions: ['provider_keys'] } as const;

interface Refusal {
  readonly message: string;
  readonly type: string;
  readonly code: string;
  readonly param: string | null;
}

/** A gateway, a resource that accepts one key, and a caller who has that key and an account. */
export class CustodyFixture {
  readonly harness: Harness;
  readonly resource: CloudResource;
  minted: MintedKey;

  private constructor(harness: Harness, resource: CloudResource, minted: MintedKey) {
    this.harness = harness;
    this.resource = resource;
    this.minted = minted;
  }

  static async start(options: HarnessOptions = {}, apiKey = API_KEY): Promise<CustodyFixture> {
    const rateLimit = { ...NO_RATE_LIMITS, requestsPerSecond: 1e6, burst: 1e6, calls: null, streams: 1e6 };
    const harness = await startHarness({ ...options, config: { rateLimit, ...options.config } });
    return new CustodyFixture(harness, await startResource(apiKey), await harness.mint(OWNER));
  }

  /** A new caller, and a resource without any state. */
  async renew(): Promise<void> {
    this.resource.reset();
    this.harness.sim.reset();
    this.minted = await this.harness.mint(OWNER);
  }

  async stop(): Promise<void> {
    await this.harness.settled();
    await this.harness.expectCleanBooks();
    await this.harness.stop();
    await this.resource.close();
  }

  keys(method: string, path = '/cloud', body?: unknown, secret = this.minted.secret): Promise<Response> {
    const json = typeof body === 'string' ? body : JSON.stringify(body);
    const authorization = `Bearer ${secret}`;
    return fetch(`${this.harness.url}/v1/keys${path}`, {
      method,
      headers: body === undefined ? { authorization } : { authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: json }),
    });
  }

  putKey(body: object = {}, secret = this.minted.secret): Promise<Response> {
    const { key, baseUrl } = this.resource;
    return this.keys('PUT', '/cloud', { api_key: key, base_url: baseUrl, ...body }, secret);
  }

  chat(model: string, more: object = {}, secret = this.minted.secret): Promise<Response> {
    return this.harness.post({ model, ...ASK, ...more }, { authorization: `Bearer ${secret}` });
  }

  /** The call cost nothing, and its answer and its receipt both say so. */
  async expectFree(response: Response): Promise<void> {
    expect(response.headers.get('x-gateway-cost-nanousd')).toBe('0');
    const receipt = await this.harness.receipt(response.headers.get('x-gateway-request-id')!, this.minted.secret);
    expect(receipt).toMatchObject({ status: 'settled', cost_nanousd: 0, http_status: response.status });
  }
}

export async function readRefusal(response: Response): Promise<Refusal & { status: number }> {
  const { error } = (await response.json()) as { error: Refusal };
  expect(JSON.stringify(error)).not.toContain(API_KEY);
  return { ...error, status: response.status };
}
