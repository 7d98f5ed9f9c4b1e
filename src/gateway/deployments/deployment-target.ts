import type { Resource } from '../../custody/custody.ts';

/** A name that is none of the catalog's, taken for a deployment of the caller's own. */
export interface Deployment {
  readonly name: string;
  readonly resource: Resource;
}
