import type { Resource } from '../../custody/custody.ts';

/** A model name that is not in the catalog, treated as a deployment of the caller's own. */
export interface Deployment {
  readonly name: string;
  readonly resource: Resource;
}
