/**
 * Every route exists under each of these prefixes, because SDKs differ in what they add to a base URL. A prefix comes after
 * those it begins with.
 */
export const PREFIXES = ['', '/v1', '/api/v1', '/openai', '/openai/v1'] as const;

/** The paths of a cloud provider's SDK, which have the model in front of the route. */
const DEPLOYMENT_PATH = /^\/openai\/deployments\/(.+?)(\/(?:chat\/completions|completions|embeddings|responses))\/?$/;

interface DeploymentPath {
  /** The model in the path, as it was sent. */
  readonly model: string;
  /** The route behind it. */
  readonly path: string;
  /** The path without the caller's text, for logs. */
  readonly pattern: string;
}

export function readDeploymentPath(requested: string): DeploymentPath | null {
  const [, model, path] = DEPLOYMENT_PATH.exec(requested) ?? [];
  if (model === undefined || path === undefined) return null;
  return { model, path, pattern: `/openai/deployments/*${path}` };
}

/** Paths with a model id, which may have an escaped slash. */
export const MODEL_PATH = /^(?:(?:\/api|\/openai)?(?:\/v1)?\/models\/|\/openai\/deployments\/)/;
