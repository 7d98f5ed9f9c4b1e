import type { ModelRow } from '../catalog/schema.ts';
import { LIMITS } from '../limits.ts';
import type { ConfiguredHost, ServedModel } from './host.ts';

type Place = ModelRow['hosts'][number];

/**
 * Adds the models that operators listed for their hosts (another host for a known model, or a new model), then the
 * models that hosts listed themselves.
 */
export function addServedModels(rows: readonly ModelRow[], hosts: readonly ConfiguredHost[]): ModelRow[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const host of hosts) {
    for (const served of host.models) byId.set(served.id, servedBy(byId.get(served.id), served, host));
  }
  addFound(byId, hosts);
  return [...byId.values()];
}

/**
 * A name in the catalog keeps its meaning: a local server's model of that name is a different build at a different price.
 * Callers reach it with the server's name as prefix.
 */
function addFound(byId: Map<string, ModelRow>, hosts: readonly ConfiguredHost[]): void {
  const taken = new Set([...byId.values()].flatMap(({ id, aliases = [] }) => [id, ...aliases]));
  for (const host of hosts) {
    for (const found of host.found ?? []) {
      const id = taken.has(found.id) ? `${host.row.name}/${found.id}` : found.id;
      if (!taken.has(id) && id.length <= LIMITS.modelIdCharsMax)
        byId.set(id, servedBy(byId.get(id), { ...found, id }, host));
    }
  }
}

function servedBy(row: ModelRow | undefined, served: ServedModel, host: ConfiguredHost): ModelRow {
  const place = placeOf(served, host);
  if (row === undefined) return newRow(served, place);
  const before = row.hosts.find((other) => other.host === place.host) ?? wireElsewhere(row, host);
  return { ...row, hosts: [...row.hosts.filter((other) => other.host !== place.host), { ...before, ...place }] };
}

/** If all known hosts serve a model on one wire, this host serves it on that wire too, if it speaks it. */
function wireElsewhere({ hosts: [first, ...others] }: ModelRow, { row }: ConfiguredHost): Pick<Place, 'wire'> {
  const wire = first?.wire;
  if (wire === undefined || !row.wires.includes(wire) || others.some((other) => other.wire !== wire)) return {};
  return { wire };
}

/** A local machine charges nothing. */
function placeOf({ model, price, wire }: ServedModel, { row, local }: ConfiguredHost): Place {
  const charged = price ?? (local ? { input: 0, output: 0 } : undefined);
  return {
    host: row.name,
    model,
    ...(wire !== undefined && { wire }),
    ...(charged !== undefined && { price: charged }),
  };
}

function newRow(served: ServedModel, place: Place): ModelRow {
  return {
    id: served.id,
    context_window: served.contextWindow ?? LIMITS.unknownContextWindowTokens,
    ...(served.maxOutputTokens !== null && { max_output_tokens: served.maxOutputTokens }),
    caps: served.caps === undefined ? ['chat', 'tools'] : [...served.caps],
    hosts: [place],
  };
}
