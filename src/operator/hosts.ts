import type { HostReport } from '../hosts/hosts-health.ts';
import { toSeconds } from '../kit/unix-seconds.ts';
import { liveServices } from './live-services.ts';
import type { OperatorServices } from './services.ts';
import type { ListView } from './view.ts';

/** A model of a host, and its place among all hosts of the model by price. */
interface HostModelView {
  readonly model: string;
  readonly host_model: string;
  /** Nanodollars per million tokens. */
  readonly input: bigint;
  readonly output: bigint;
  /** 1 for the cheapest; hosts with the same price share a place. */
  readonly place: number;
}

/** Times are in seconds since 1970. */
export interface HostView {
  readonly object: 'host';
  readonly id: string;
  readonly state: HostReport['state'] | 'refusing';
  /** Average time to first byte of recent streams. */
  readonly first_byte_ms: number | null;
  readonly models: readonly HostModelView[];
  /** Latest problems, the newest first. */
  readonly events: readonly { readonly at: number; readonly kind: string; readonly status: number | null }[];
}

export async function listHosts(services: OperatorServices): Promise<ListView<HostView>> {
  const models = modelsByHost(services);
  const data = liveServices(services)
    .hosts()
    .map(
      ({ host, state, isRefusing, firstByteMs, events }): HostView => ({
        object: 'host',
        id: host,
        // Other states say more: such a host is not called at all.
        state: isRefusing && (state === 'well' || state === 'limited') ? 'refusing' : state,
        first_byte_ms: firstByteMs === null ? null : Math.round(firstByteMs),
        models: models.get(host) ?? [],
        events: events.map(({ atMs, event }) => ({
          at: toSeconds(atMs),
          kind: event.kind,
          status: 'status' in event ? event.status : null,
        })),
      }),
    );
  return { object: 'list', data, next: null };
}

function modelsByHost({ catalog }: OperatorServices): ReadonlyMap<string, HostModelView[]> {
  const byHost = new Map<string, HostModelView[]>();
  for (const model of catalog().list()) {
    const offers = model.hosts.map(({ host, model: hostModel, price = model.price }) => ({ host, hostModel, price }));
    for (const { host, hostModel, price } of offers) {
      const view = {
        model: model.id,
        host_model: hostModel,
        input: price.inputNanousdPerMillion,
        output: price.outputNanousdPerMillion,
        place: 1 + offers.filter((other) => sum(other.price) < sum(price)).length,
      };
      byHost.set(host, [...(byHost.get(host) ?? []), view]);
    }
  }
  return byHost;
}

/** The order for a call depends on its size; this one is for as many input tokens as output tokens. */
function sum(price: { readonly inputNanousdPerMillion: bigint; readonly outputNanousdPerMillion: bigint }): bigint {
  return price.inputNanousdPerMillion + price.outputNanousdPerMillion;
}
