import type { HostWire } from '../canonical/wire-names.ts';
import type { CatalogModel } from '../catalog/model.ts';
import type { RequestControl, ResponseReceiver, Sender } from '../egress/sender.ts';
import { hideSecret } from '../kit/hide-secret.ts';
import type { Price } from '../money/price.ts';
import { type ConfiguredHost, type HostRow, keyHeader } from './host.ts';
import type { HostHealth } from './host-health.ts';
import type { HostsHealth } from './hosts-health.ts';

export type { RequestControl, ResponseReceiver } from '../egress/sender.ts';

/** A host that can be called, with its address and key. */
interface ReadyHost {
  readonly row: HostRow;
  send(
    path: string,
    wireHeaders: WireHeaders,
    body: Buffer,
    receiver: ResponseReceiver,
    accountId: bigint,
  ): RequestControl;
  /** Replaces the host's key in a text, because a host may quote it in an error. */
  hideKey(text: string): string;
}

/** Headers that a wire adds to every request, like a version. */
type WireHeaders = Readonly<Record<string, string>>;

/** A host that serves the requested model: its name for it, its wires, and its price. */
export interface Candidate {
  readonly host: ReadyHost;
  readonly wires: readonly HostWire[];
  readonly hostModel: string;
  /** The catalog's price, unless the config says otherwise. */
  readonly price: Price;
  /** Null for a caller's own deployment, whose health is not tracked. */
  readonly health: HostHealth | null;
}

/** The hosts that this process may call, by name. */
export class HostDirectory {
  readonly #hosts: ReadonlyMap<string, ReadyHost>;
  readonly #healths: ReadonlyMap<string, HostHealth>;
  readonly #candidates = new WeakMap<CatalogModel, readonly Candidate[]>();

  constructor(hosts: readonly ConfiguredHost[], senderFor: (host: ConfiguredHost) => Sender, health: HostsHealth) {
    this.#hosts = new Map(hosts.map((host) => [host.row.name, readyHost(host, senderFor(host))]));
    this.#healths = health.track(hosts.map(({ row, key }) => ({ name: row.name, hasKey: key !== null })));
  }

  /** All hosts of a model, in no particular order; computed once per model. */
  candidates(model: CatalogModel): readonly Candidate[] {
    let candidates = this.#candidates.get(model);
    if (candidates === undefined) {
      candidates = this.#findCandidates(model);
      this.#candidates.set(model, candidates);
    }
    return candidates;
  }

  /** Those of them that were computed already. */
  usedCandidates(model: CatalogModel): readonly Candidate[] {
    return this.#candidates.get(model) ?? [];
  }

  #findCandidates(model: CatalogModel): Candidate[] {
    const candidates: Candidate[] = [];
    for (const served of model.hosts) {
      const host = this.#hosts.get(served.host);
      if (host !== undefined)
        candidates.push({
          host,
          hostModel: served.model,
          wires: served.wire === undefined ? host.row.wires : [served.wire],
          price: served.price ?? model.price,
          health: this.#healths.get(served.host) ?? null,
        });
    }
    return candidates;
  }
}

function readyHost({ row, key }: ConfiguredHost, sender: Sender): ReadyHost {
  const url = new URL(row.baseUrl);
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'accept-encoding': 'identity',
    'user-agent': 'tollgate',
  };
  if (key !== null) Object.assign(headers, keyHeader(row, key.reveal()));
  const together = besides(headers);
  const { origin } = url;
  const prefix = url.pathname.replace(/\/$/, '');
  return {
    row,
    send: (path, wireHeaders, body, receiver, accountId) =>
      sender.send(
        { origin, path: prefix + path, headers: together(wireHeaders), body, onBehalfOf: accountId },
        receiver,
      ),
    hideKey: (text) => (key === null ? text : hideSecret(text, key.reveal())),
  };
}

/** Adds a wire's headers to the host's. Most calls have the same ones as the last call and get the same object. */
function besides(own: WireHeaders): (wires: WireHeaders) => WireHeaders {
  let last: WireHeaders = {};
  let both = own;
  return (wires) => {
    if (wires !== last) {
      last = wires;
      both = { ...own, ...wires };
    }
    return both;
  };
}
