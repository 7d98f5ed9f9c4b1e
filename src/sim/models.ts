import type { IncomingHttpHeaders } from 'node:http';
import { jsonReply, type Reply } from './reply.ts';
import { versionIn } from './wires/messages/headers.ts';

const LISTED_MODELS = ['sim-gpt', 'sim-gpt-mini', 'sim-claude', 'sim-responses', 'sim-embed', 'sim-decide'];
/** A fixed date, so that the list stays the same from one call to the next. */
const CREATED_SECONDS = 1_767_225_600;
const CREATED = '2026-01-01T00:00:00Z';

const MODELS_PATH = '/v1/models';

/** How one vendor lists its models; three of them use the same path. */
interface ModelShape {
  readonly describe: (id: string) => object;
  readonly list: (models: readonly object[]) => object;
}

const PLAIN: ModelShape = {
  describe: (id) => ({ id, object: 'model', created: CREATED_SECONDS, owned_by: 'simulated' }),
  list: (data) => ({ object: 'list', data }),
};

const MESSAGES: ModelShape = {
  describe: (id) => ({ type: 'model', id, display_name: `Simulated ${id}`, created_at: CREATED }),
  list: (data) => ({ data, has_more: false, first_id: LISTED_MODELS[0], last_id: LISTED_MODELS.at(-1) }),
};

const DECISIONS: ModelShape = {
  describe: (name) => ({
    name,
    description: 'A simulated model.',
    release_date: CREATED.slice(0, 'YYYY-MM-DD'.length),
  }),
  list: (models) => ({ models }),
};

/** The list, or any single model by name: the simulator serves every model. */
export function answerModels(path: string, headers: IncomingHttpHeaders): Reply | null {
  const shape = shapeFor(headers);
  if (path === MODELS_PATH) return jsonReply(200, JSON.stringify(shape.list(LISTED_MODELS.map(shape.describe))));
  if (!path.startsWith(`${MODELS_PATH}/`)) return null;
  const id = path.slice(MODELS_PATH.length + 1).replaceAll(/%2f/gi, '/');
  return jsonReply(200, JSON.stringify(shape.describe(id)));
}

/** A header that only this vendor's clients send tells them apart. */
function shapeFor(headers: IncomingHttpHeaders): ModelShape {
  if (versionIn(headers) !== undefined) return MESSAGES;
  return headers['x-typesafe-sdk'] === undefined ? PLAIN : DECISIONS;
}
