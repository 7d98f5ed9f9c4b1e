import type { Model } from '../api/generated/routes.ts';
import { useApi } from '../api/queries.ts';
import { localToken } from '../api/session.ts';

export function isLocalMode(): boolean {
  return localToken() !== null;
}

/** Where callers reach the gateway. The page may have a port of its own in local mode, where the operator knows both. */
export function useGatewayUrl(): string {
  const system = useApi('GET /system', {}, { enabled: isLocalMode(), staleMs: 300_000 });
  return system.data?.server?.url ?? location.origin;
}

/**
 * A model to begin with: a simulated one, which costs no real money, or the cheapest chat model. Null if there is none, undefined
 * until the models are known.
 */
export function useTrialModel(): Model | null | undefined {
  const models = useApi('GET /models', {}, { staleMs: 300_000 });
  if (models.data === undefined) return undefined;
  const talking = models.data.data.filter(({ caps }) => caps.includes('chat'));
  const price = ({ pricing }: Model): number => pricing.input + pricing.output;
  const ranked = talking.toSorted((a, b) => Number(isSimulated(b)) - Number(isSimulated(a)) || price(a) - price(b));
  return ranked[0] ?? null;
}

export function isSimulated({ owned_by }: Pick<Model, 'owned_by'>): boolean {
  return owned_by === 'simulated';
}
