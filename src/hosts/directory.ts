import type { CatalogModel } from '../catalog/model.ts';
import type { ConfiguredHost, HostRow } from './host.ts';

/** A host ready to be called: where it is, and the headers every request to it carries. */
export interface ReadyHost {
  readonly row: HostRow;
  readonly origin: string;
  readonly pathPrefix: string;
  readonly headers: Record<string, string>;
}

/** One host that serves the wanted model, and its name for it. */
export interface Candidate {
  readonly host: ReadyHost;
  readonly hostModel: string;
}

/** The hosts this process may call, by name. */
export class HostDirectory {
  readonly #hosts: ReadonlyMap<string, ReadyHost>;

  constructor(hosts: readonly ConfiguredHost[]) {
    this.#hosts = new Map(hosts.map((host) => [host.row.name, readyHost(host)]));
  }

  /** The hosts of a model in the order they should be asked. */
  candidates(model: CatalogModel): Candidate[] {
    const candidates: Candidate[] = [];
    for (const served of model.hosts) {
      const host = this.#hosts.get(served.host);
      if (host !== undefined) candidates.push({ host, hostModel: served.model });
    }
    return candidates;
  }
}

function readyHost({ row, key }: ConfiguredHost): ReadyHost {
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
  return { row, origin: url.origin, pathPrefix: url.pathname.replace(/\/$/, ''), headers };
}
