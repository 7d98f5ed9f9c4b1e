import type { HostWire } from '../canonical/wire-names.ts';
import type { CatalogModel } from '../catalog/model.ts';
import type { AnswerReceiver, RequestControl, Sender } from '../egress/sender.ts';
import type { Price } from '../money/price.ts';
import type { ConfiguredHost, HostRow } from './host.ts';
import type { HostHealth } from './host-health.ts';
import type { HostsHealth } from './hosts-health.ts';

export type { AnswerReceiver, RequestControl } from '../egress/sender.ts';

/** A host ready to be called: its address and its key stay in here. */
export interface ReadyHost {
  readonly row: HostRow;
  send(path: string, wireHeaders: WireHeaders, body: Buffer, receiver: AnswerReceiver): RequestControl;
  /** A host may quote the key it was called with; no caller may read it. */
  hideKey(text: string): string;
}

/** Headers that a wire adds to every request, as a version. */
export type WireHeaders = Readonly<Record<string, string>>;

/** One host that serves the wanted model: its name for it, the wires it can be asked on, what it charges us. */
export interface Candidate {
  readonly host: ReadyHost;
  readonly wires: readonly HostWire[];
  readonly hostModel: string;
  /** The catalog's own where nobody said otherwise. */
  readonly price: Price;
  /** Null for what is no host of ours, whose health is not our matter. */
  readonly health: HostHealth | null;
}

/** The hosts this process may call, by name. */
export class HostDirectory {
  readonly #hosts: ReadonlyMap<string, ReadyHost>;
  readonly #healths: ReadonlyMap<string, HostHealth>;
  readonly #candidates = new WeakMap<CatalogModel, readonly Candidate[]>();

  constructor(hosts: readonly ConfiguredHost[], senderFor: (host: ConfiguredHost) => Sender, health: HostsHealth) {
    this.#hosts = new Map(hosts.map((host) => [host.row.name, readyHost(host, senderFor(host))]));
    this.#healths = health.track(hosts.map(({ row, key }) => ({ name: row.name, hasKey: key !== null })));
  }

  /** All hosts of a model, in no order; found once for each model. */
  candidates(model: CatalogModel): readonly Candidate[] {
    let candidates = this.#candidates.get(model);
    if (candidates === undefined) {
      candidates = this.#findCandidates(model);
      this.#candidates.set(model, candidates);
    }
    return candidates;
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
  if (key !== null) {
    const secret = key.reveal();
    headers[row.auth.header] = row.auth.scheme === null ? secret : `${row.auth.scheme} ${secret}`;
  }
  const together = besides(headers);
  const { origin } = url;
  const prefix = url.pathname.replace(/\/$/, '');
  return {
    row,
    send: (path, wireHeaders, body, receiver) =>
      sender.send({ origin, path: prefix + path, headers: together(wireHeaders), body }, receiver),
    hideKey: (text) => (key === null ? text : withoutKey(text, key.reveal())),
  };
}

/** A host may quote the key as it is, or encoded as in a URL. */
function withoutKey(text: string, key: string): string {
  return text.replaceAll(key, '[key]').replaceAll(encodeURIComponent(key), '[key]');
}

/** Puts a wire's headers beside the host's own; most calls bring the same as the last one, and get the same object. */
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
