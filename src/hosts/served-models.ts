import type { ModelRow } from '../catalog/schema.ts';
import { LIMITS } from '../limits.ts';
import type { ConfiguredHost, ServedModel } from './host.ts';

/** Adds what operators listed beside their hosts: another host for a known model, or a new model of that host. */
export function addServedModels(rows: readonly ModelRow[], hosts: readonly ConfiguredHost[]): ModelRow[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const host of hosts) {
    for (const served of host.models) byId.set(served.id, servedBy(byId.get(served.id), served, host.row.name));
  }
  return [...byId.values()];
}

function servedBy(row: ModelRow | undefined, served: ServedModel, host: string): ModelRow {
  const place = { host, model: served.model };
  if (row === undefined) return newRow(served, place);
  return { ...row, hosts: [...row.hosts.filter((other) => other.host !== host), place] };
}

function newRow(served: ServedModel, place: { host: string; model: string }): ModelRow {
  return {
    id: served.id,
    context_window: served.contextWindow ?? LIMITS.unknownContextWindowTokens,
    ...(served.maxOutputTokens !== null && { max_output_tokens: served.maxOutputTokens }),
    caps: ['chat', 'tools'],
    hosts: [place],
  };
}
