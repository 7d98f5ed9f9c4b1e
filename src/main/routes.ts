import { countPrompt } from '../gateway/count-prompt.ts';
import { exchange } from '../gateway/exchange.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { plainRoutes } from '../http/plain-routes.ts';
import type { Route } from '../http/routes.ts';
import { readVersion } from '../wires/messages/vendor.ts';
import { WIRES } from '../wires/registry.ts';

/** Where each wire is served; a wire adds a line. */
const BILLED: readonly [path: string, wire: string][] = [
  ['/chat/completions', 'chat'],
  ['/messages', 'messages'],
  ['/responses', 'responses'],
  ['/completions', 'completions'],
  ['/embeddings', 'embeddings'],
  ['/systemone', 'systemone'],
  ['/decisions', 'decisions'],
];

/** Everything the gateway answers. */
export function routeTable({ ledger, prices }: Gateway): Route[] {
  const billed = BILLED.map(
    ([path, wire]): Route => ({
      method: 'POST',
      path,
      access: 'key',
      wire: WIRES[wire]!,
      run: exchange,
    }),
  );
  const counting: Route = {
    method: 'POST',
    path: '/messages/count_tokens',
    access: 'key',
    wire: WIRES.messages!,
    run: countPrompt,
  };
  const messages = { wire: WIRES.messages!, checkVersion: readVersion };
  return [...billed, counting, ...plainRoutes({ ledger, prices, messages })];
}
