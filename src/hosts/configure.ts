import { Secret } from '../kit/secret.ts';
import type { ConfiguredHost, HostRow, ServedModel } from './host.ts';
import { AddressUnreadable, readAddress, usualAddress } from './read-address.ts';
import { type Environment, type FoundKey, KeyUnreadable, readKey } from './read-key.ts';
import { HOST_ROWS } from './rows.ts';
import { type HostEntry, isLoopback, readHostEntry } from './schema.ts';

interface HostProblem {
  /** The field of the config file; empty if an environment variable is at fault. */
  readonly path: string;
  readonly message: string;
}

export interface HostSelection {
  readonly configured: readonly ConfiguredHost[];
  /** Local model servers that may run on their usual ports. */
  readonly guessed: readonly ConfiguredHost[];
  /** Built-in hosts that lack a key or an address. */
  readonly withoutKey: readonly HostRow[];
  /** Every host that a model may name, even if it cannot be called now. */
  readonly names: ReadonlySet<string>;
  readonly problems: readonly HostProblem[];
}

interface HostOptions {
  readonly env: Environment;
  /** Whether the simulated host is offered. */
  readonly simulated: boolean | 'without-real-hosts';
  readonly readKeys: boolean;
  /** Our own port, where no other server is looked for; null: do not look for local servers at all. */
  readonly guess: { readonly ownPort: number } | null;
}

/** The built-in hosts with the operator's changes, and the operator's own hosts. */
export function configureHosts(entries: readonly HostEntry[], options: HostOptions): HostSelection {
  const selection = new Selection(options);
  const entryOf = (name: string) => entries.findIndex((entry) => entry.name === name);
  for (const row of HOST_ROWS) selection.addBuiltIn(row, entryOf(row.name), entries);
  entries.forEach((entry, at) => {
    if (entryOf(entry.name) !== at) selection.refuse(at, 'name', 'appears twice; each host has one entry');
    else if (!isBuiltIn(entry.name)) selection.addOwn(entry, at);
  });
  selection.addSimulated(HOST_ROWS);
  return selection;
}

function isBuiltIn(name: string): boolean {
  return HOST_ROWS.some((row) => row.name === name);
}

class Selection implements HostSelection {
  readonly configured: ConfiguredHost[] = [];
  readonly guessed: ConfiguredHost[] = [];
  readonly withoutKey: HostRow[] = [];
  readonly names = new Set<string>();
  readonly problems: HostProblem[] = [];
  readonly #options: HostOptions;

  constructor(options: HostOptions) {
    this.#options = options;
  }

  refuse(at: number, field: string, message: string): void {
    this.problems.push({ path: `hosts[${at}].${field}`, message });
  }

  addBuiltIn(builtIn: HostRow, at: number, entries: readonly HostEntry[]): void {
    this.names.add(builtIn.name);
    const entry = entries[at];
    if (builtIn.simulated) {
      if (entry !== undefined) this.refuse(at, 'name', 'is the simulated host, which cannot be changed');
      return;
    }
    const row = this.#withAddress(entry === undefined ? builtIn : readHostEntry(entry, builtIn), entry);
    const found = this.#key(row, entry, at);
    if (row.baseUrl !== '' && (found !== null || row.local !== undefined)) this.#add(row, entry, found);
    else if (row.local === undefined) this.withoutKey.push(row);
    else this.#guess(row);
  }

  /** Last, because it may depend on whether there is a real host. */
  addSimulated(rows: readonly HostRow[]): void {
    const { simulated } = this.#options;
    if (simulated === false || (simulated === 'without-real-hosts' && this.configured.length > 0)) return;
    for (const row of rows) if (row.simulated) this.#add(row, undefined, null);
  }

  addOwn(entry: HostEntry, at: number): void {
    this.names.add(entry.name);
    if (entry.base_url === undefined) this.refuse(at, 'base_url', "is missing; set the host's address");
    const row = readHostEntry(entry, undefined);
    this.#add(row, entry, this.#key(row, entry, at));
  }

  #add(row: HostRow, entry: HostEntry | undefined, found: FoundKey | null): void {
    if (this.#options.readKeys) this.configured.push(configuredHost(row, entry, found));
  }

  #guess(row: HostRow): void {
    const { guess, readKeys } = this.#options;
    const port = row.local?.port ?? null;
    if (!readKeys || guess === null || port === null || port === guess.ownPort || row.address === undefined) return;
    this.guessed.push(configuredHost({ ...row, baseUrl: usualAddress(row.address) }, undefined, null));
  }

  /** From the entry, else from a variable. A local server without either is expected at its usual address. */
  #withAddress(row: HostRow, entry: HostEntry | undefined): HostRow {
    const { address } = row;
    if (address === undefined || entry?.base_url !== undefined || !this.#options.readKeys) return row;
    const found = this.#orProblem(() => readAddress(address, this.#options.env));
    if (found !== null) return { ...row, baseUrl: found.baseUrl };
    return row.local !== undefined && entry !== undefined ? { ...row, baseUrl: usualAddress(address) } : row;
  }

  #key(row: HostRow, entry: HostEntry | undefined, at: number): FoundKey | null {
    if (!this.#options.readKeys) return null;
    if (entry?.key !== undefined) return { key: new Secret(entry.key), source: `hosts[${at}].key` };
    return this.#orProblem(() => {
      const found = readKey(row.keyVariables, this.#options.env);
      if (found === null && entry?.key_env !== undefined)
        this.refuse(at, 'key_env', `names ${entry.key_env}, which is not set`);
      return found;
    });
  }

  #orProblem<Found>(read: () => Found | null): Found | null {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof KeyUnreadable || error instanceof AddressUnreadable)) throw error;
      this.problems.push({ path: '', message: error.message });
      return null;
    }
  }
}

function configuredHost(row: HostRow, entry: HostEntry | undefined, found: FoundKey | null): ConfiguredHost {
  return {
    row,
    key: found?.key ?? null,
    keySource: found?.source ?? null,
    local: entry?.local ?? (row.local !== undefined || isLoopback(URL.parse(row.baseUrl)?.hostname ?? '')),
    models: (entry?.models ?? []).map(readServedModel),
  };
}

function readServedModel(served: NonNullable<HostEntry['models']>[number]): ServedModel {
  if (typeof served === 'string') return { id: served, model: served, contextWindow: null, maxOutputTokens: null };
  return {
    id: served.id,
    model: served.model ?? served.id,
    contextWindow: served.context_window ?? null,
    maxOutputTokens: served.max_output_tokens ?? null,
    ...(served.wire !== undefined && { wire: served.wire }),
    ...(served.price !== undefined && { price: served.price }),
  };
}
