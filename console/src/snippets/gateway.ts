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
 * A model to begin with: a simulated one, which costs no real money, or the cheapest chat model, of those that a key may use. Null
 * if there is none, undefined until the models are known.
 */
export function useTrialModel(allowed: readonly string[] | null = null): Model | null | undefined {
  const models = useApi('GET /models', {}, { staleMs: 300_000 });
  return models.data === undefined ? undefined : trialModel(models.data.data, allowed, 'chat');
}

/** The same for clients that speak the messages API, on which only some models can be called. */
export function useMessagesModel(allowed: readonly string[] | null): Model | null | undefined {
  const models = useApi('GET /models', {}, { staleMs: 300_000 });
  return models.data === undefined ? undefined : trialModel(models.data.data, allowed, 'messages');
}

function trialModel(
  models: readonly Model[],
  allowed: readonly string[] | null,
  cap: 'chat' | 'messages',
): Model | null {
  const isAllowed = ({ id, aliases }: Model): boolean =>
    allowed === null || [id, ...aliases].some((name) => allowed.includes(name));
  const talking = models.filter((model) => model.caps.includes(cap) && isAllowed(model));
  const price = ({ pricing }: Model): number => pricing.input + pricing.output;
  const ranked = talking.toSorted((a, b) => Number(isSimulated(b)) - Number(isSimulated(a)) || price(a) - price(b));
  return ranked[0] ?? null;
}

export function isSimulated({ owned_by }: Pick<Model, 'owned_by'>): boolean {
  return owned_by === 'simulated';
}
