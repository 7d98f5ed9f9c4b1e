import type { OperatorServices } from './services.ts';
import { type ModelListView, modelListView, type StatusView, statusView } from './view.ts';

export async function listModels({ catalog }: OperatorServices): Promise<ModelListView> {
  return modelListView(catalog());
}

export async function showStatus({ store, ids, catalog, server, moved }: OperatorServices): Promise<StatusView> {
  const { priceVersion: version } = catalog();
  const health = await store.health();
  const known = moved === null ? health : { ...health, mayAdmit: false, reason: moved };
  const losses = await store.acceptedLosses();
  return statusView(server, known, losses, { models: catalog().list().length, version }, ids.aheadMs);
}
