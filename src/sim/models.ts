import { jsonReply, type Reply } from './reply.ts';

const LISTED_MODELS = ['sim-gpt', 'sim-gpt-mini'];
/** A fixed date: the list must not change from one call to the next. */
const CREATED_SECONDS = 1_767_225_600;

const MODELS_PATH = '/v1/models';

/** The list, or any single model by name: the simulator serves whatever it is asked for. */
export function answerModels(path: string): Reply | null {
  if (path === MODELS_PATH) {
    return jsonReply(200, JSON.stringify({ object: 'list', data: LISTED_MODELS.map(describeModel) }));
  }
  if (!path.startsWith(`${MODELS_PATH}/`)) return null;
  const id = path.slice(MODELS_PATH.length + 1).replaceAll(/%2f/gi, '/');
  return jsonReply(200, JSON.stringify(describeModel(id)));
}

function describeModel(id: string) {
  return { id, object: 'model', created: CREATED_SECONDS, owned_by: 'simulated' };
}
