import type { Gateway } from '../gateway/gateway.ts';
import { BodyMemory } from '../gateway/guards/body-memory.ts';
import { hangupFacts } from '../gateway/hangup-facts.ts';
import { CallerLists } from '../http/caller-lists.ts';
import { intakePlaces, resultPlaces } from '../http/jobs/group-places.ts';
import { jobRoutes } from '../http/jobs/job-routes.ts';
import { keyRoutes } from '../http/key-routes.ts';
import { plainRoutes } from '../http/plain-routes.ts';
import { receiptRoutes } from '../http/receipt-routes.ts';
import type { Route } from '../http/routes.ts';
import { type WebhookRouteServices, webhookRoutes } from '../http/webhook-routes.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ReceiptSigner } from '../signing/receipt-signer.ts';
import { readVersion } from '../wires/messages/vendor-headers.ts';
import { WIRES } from '../wires/registry.ts';
import { callRoutes, QUOTABLE } from './call-routes.ts';

export interface RouteServices {
  readonly gateway: Gateway;
  readonly ledger: Ledger;
  readonly signer: ReceiptSigner;
  readonly webhooks: WebhookRouteServices;
  readonly jobs: Jobs;
}

/** Everything the gateway answers. */
export function routeTable({ gateway, ledger, signer, webhooks, jobs }: RouteServices): Route[] {
  const { prices, custody, clock, ids, usage, slots } = gateway;
  const lists = new CallerLists(clock);
  const messages = { wire: WIRES.messages, checkVersion: readVersion };
  return [
    ...callRoutes(),
    ...plainRoutes({
      ledger,
      prices,
      hangups: (account) => hangupFacts(gateway, account),
      messages,
      clock,
      usage,
      lists,
    }),
    ...receiptRoutes({ ledger, signer, clock, lists }),
    ...keyRoutes({ custody, clock, ids, clientAddress: webhooks.clientAddress }),
    ...webhookRoutes(webhooks),
    ...jobRoutes({
      jobs,
      clock,
      endpoints: QUOTABLE.names,
      intakePlaces: intakePlaces(),
      resultPlaces: resultPlaces(),
      resultMemory: new BodyMemory(),
      slots,
      lists,
      webhooks: webhooks.targets,
    }),
  ];
}
