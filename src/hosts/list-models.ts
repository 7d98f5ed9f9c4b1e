import { Agent, request } from 'undici';
import { proxyAgent } from '../egress/proxy-agent.ts';
import { tryParseJson } from '../json/json.ts';
import type { Clock } from '../kit/clock.ts';
import { LIMITS } from '../limits.ts';
import { type ConfiguredHost, keyHeader, type LocalServer, type ServedModel } from './host.ts';

const ASK_OPTIONS = {
  maxResponseSize: LIMITS.localHostBytesMax,
  connectTimeout: LIMITS.localHostMs,
};

/** The models that a local server lists; null if it is not usable. */
export async function listModels({ row, key, proxy }: ConfiguredHost, clock: Clock): Promise<ServedModel[] | null> {
  const agent = proxy === undefined ? new Agent(ASK_OPTIONS) : proxyAgent(proxy.url.reveal(), ASK_OPTIONS);
  const stop = new AbortController();
  const timer = clock.after(LIMITS.localHostMs, () => stop.abort());
  try {
    const { statusCode, headers, body } = await request(`${row.baseUrl}/models`, {
      dispatcher: agent,
      signal: stop.signal,
      headers: { accept: 'application/json', ...(key !== null && keyHeader(row, key.reveal())) },
    });
    const text = await body.text();
    // Another Tollgate on that port would offer its paid models for free.
    if (statusCode !== 200 || headers['x-gateway-request-id'] !== undefined) return null;
    return readModels(tryParseJson(text), row.local ?? ANYONE);
  } catch {
    // Refused, silent, too slow or too long: not usable.
    return null;
  } finally {
    timer.cancel();
    await agent.destroy();
  }
}

const ANYONE: LocalServer = { port: null, owner: null };

interface ListedModel {
  readonly id: string;
  readonly owned_by?: unknown;
  readonly [name: string]: unknown;
}

/** Null if it is not a list of models, or not that server's. */
function readModels(answer: unknown, { owner }: LocalServer): ServedModel[] | null {
  const data = typeof answer === 'object' && answer !== null && 'data' in answer ? answer.data : null;
  if (!Array.isArray(data)) return null;
  const listed = data.filter(isListed).slice(0, LIMITS.localHostModelsMax);
  if (owner !== null && listed.some((model) => model.owned_by !== owner)) return null;
  return listed.map(readModel);
}

/** Names that no request could contain are skipped. */
const MODEL_NAME = /^[^\s/]+(\/[^\s/]+)*$/;

function isListed(model: unknown): model is ListedModel {
  const id = typeof model === 'object' && model !== null && 'id' in model ? model.id : null;
  return typeof id === 'string' && id.length <= LIMITS.modelIdCharsMax && MODEL_NAME.test(id);
}

/** The list does not say what a model can do, but embedding models have it in their names. */
const EMBEDS = /embed/i;
const WINDOW_NAMES = ['max_model_len', 'context_length', 'max_context_length', 'context_window'];

function readModel(model: ListedModel): ServedModel {
  const window = WINDOW_NAMES.map((name) => model[name]).find(isTokenCount);
  return {
    id: model.id,
    model: model.id,
    contextWindow: window ?? null,
    maxOutputTokens: EMBEDS.test(model.id) ? 0 : null,
    ...(EMBEDS.test(model.id) && { caps: ['embeddings' as const] }),
  };
}

function isTokenCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
