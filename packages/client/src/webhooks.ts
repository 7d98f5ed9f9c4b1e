import type { PageQuery } from './jobs.ts';
import { type CallOptions, type ClientOptions, pathOf, pathWith, Transport } from './transport.ts';
import type { Delivery, NewWebhook, Page, Webhook, WebhookRequest } from './types.ts';

/** The webhooks of the account. The key needs the permission `webhooks`. */
export interface Webhooks {
  /** Creates a webhook, whose `secret` is shown only now, or changes the one of this name. Not sent again unless `retries` says so. */
  put(name: string, webhook: WebhookRequest, options?: CallOptions): Promise<NewWebhook>;
  get(name: string, options?: CallOptions): Promise<Webhook>;
  list(options?: CallOptions): Promise<readonly Webhook[]>;
  /** Makes a new secret. The old one also signs for `grace_seconds`; 24 hours by default. Not sent again unless `retries` says so. */
  rotate(
    name: string,
    terms?: { readonly grace_seconds?: number | undefined },
    options?: CallOptions,
  ): Promise<NewWebhook & { readonly secret: string }>;
  /** Sends a test event; `deliveries` shows what became of it. */
  test(name: string, options?: CallOptions): Promise<Delivery>;
  deliveries(name: string, query?: PageQuery, options?: CallOptions): Promise<Page<Delivery>>;
  remove(name: string, options?: CallOptions): Promise<unknown>;
}

/** For programs that manage webhooks; others need not load it. */
export function createWebhooks(options: ClientOptions): Webhooks {
  const transport = new Transport(options);
  const at = (name: string, rest?: string) => pathOf('webhooks', name, rest);
  // A response with a secret is not sent a second time, and a second rotation ends the secret that receivers know.
  const once = (options?: CallOptions) => ({ ...options, retries: options?.retries ?? 0 });
  return {
    put: (name, webhook, options) => transport.post(at(name), webhook, once(options), 'PUT'),
    get: (name, options) => transport.own(at(name), options),
    list: async (options) => (await transport.own<{ readonly data: Webhook[] }>('/v1/webhooks', options)).data,
    rotate: (name, terms = {}, options) => transport.post(at(name, '/rotate'), terms, once(options)),
    test: (name, options) => transport.post(at(name, '/test'), {}, options),
    deliveries: (name, query, options) => transport.own(pathWith(at(name, '/deliveries'), query), options),
    remove: (name, options) => transport.own(at(name), { ...options, method: 'DELETE' }),
  };
}
