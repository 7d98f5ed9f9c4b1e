import type { CatalogModel } from '../catalog/model.ts';
import type { AnswerReceiver, Egress, RequestControl } from '../egress/egress.ts';
import type { ConfiguredHost, HostRow } from './host.ts';

export type { AnswerReceiver, RequestControl } from '../egress/egress.ts';

/** A host ready to be called: its address and its key stay in here. */
export interface ReadyHost {
  readonly row: HostRow;
  send(path: string, wireHeaders: WireHeaders, body: Buffer, receiver: AnswerReceiver): RequestControl;
  /** A host may quote the key it was called with; no caller may read it. */
  hideKey(text: string): string;
}

/** Headers that a wire adds to every request, as a version. */
export type WireHeaders = Readonly<Record<string, string>>;

/** One host that serves the wanted model: its name for it, and the wires it can be asked on. */
export interface Candidate {
  readonly host: ReadyHost;
  readonly wires: readonly string[];
  readonly hostModel: string;
}

/** The hosts this process may call, by name. */
export class HostDirectory {
  readonly #hosts: ReadonlyMap<string, ReadyHost>;

  constructor(hosts: readonly ConfiguredHost[], egress: Egress) {
    this.#hosts = new Map(hosts.map((host) => [host.row.name, readyHost(host, egress)]));
  }

  /** The hosts of a model in the order they should be asked. */
  candidates(model: CatalogModel): Candidate[] {
    const candidates: Candidate[] = [];
    for (const served of model.hosts) {
      const host = this.#hosts.get(served.host);
      if (host !== undefined)
        candidates.push({
          host,
          hostModel: served.model,
          wires: served.wire === undefined ? host.row.wires : [served.wire],
        });
    }
    return candidates;
  }
}

function readyHost({ row, key }: ConfiguredHost, egress: Egress): ReadyHost {
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
  const { origin } = url;
  const prefix = url.pathname.replace(/\/$/, '');
  return {
    row,
    send: (path, wireHeaders, body, receiver) =>
      egress.send({ origin, path: prefix + path, headers: { ...headers, ...wireHeaders }, body }, receiver),
    hideKey: (text) => (key === null ? text : text.replaceAll(key.reveal(), '[key]')),
  };
}
