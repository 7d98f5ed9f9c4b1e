import { z } from 'zod';
import type { Catalog } from '../catalog/catalog.ts';
import { LIMITS } from '../limits.ts';
import type { Directory } from '../store/directory.ts';
import type { TokenOverrun } from '../store/token-overruns.ts';
import { type ActingServices, auditRow } from './actor.ts';
import { OperatorError } from './error.ts';

interface HoldFactorServices extends ActingServices {
  catalog(): Pick<Catalog, 'list' | 'resolve'>;
  readonly store: { readonly directory: Pick<Directory, 'listTokenOverruns' | 'forgetTokenOverruns'> };
}

/** How the prompts of a model are counted. */
export interface HoldFactorView {
  readonly model: string;
  /** Null if it is not known: `factor` then applies. */
  readonly tokenizer: string | null;
  readonly factor: number;
  readonly source: string;
  /** The factor in force because prompts had more tokens; null if the one above is. */
  readonly raised_to: number | null;
  /** Accounts whose prompts had more tokens than were counted. */
  readonly overrun_accounts: number;
}

interface HoldFactorList {
  readonly object: 'list';
  readonly data: readonly HoldFactorView[];
}

export async function listHoldFactors({ catalog, store }: HoldFactorServices): Promise<HoldFactorList> {
  const overruns = Map.groupBy(await store.directory.listTokenOverruns(), ({ model }) => model);
  const data = catalog()
    .list()
    .map(({ id, tokenizer, tokenFactor }) => {
      const own = overruns.get(id) ?? [];
      const raised = tokenizer === null ? raisedTo(own) : 0;
      return {
        model: id,
        tokenizer,
        factor: tokenFactor.factor,
        source: tokenFactor.source,
        raised_to: raised > tokenFactor.factor ? raised : null,
        overrun_accounts: own.length,
      };
    });
  return { object: 'list', data };
}

/** What at least this many accounts needed; the list is in descending order of the factor. */
function raisedTo(overruns: readonly TokenOverrun[]): number {
  return overruns[LIMITS.tokenOverrunAccountsMin - 1]?.factor ?? 0;
}

export const holdFactorReset = z.strictObject({ model: z.string().min(1).max(LIMITS.modelIdCharsMax) });

/** Forgets the overruns of a model, so that the catalog's factor applies again. */
export async function resetHoldFactor(
  services: HoldFactorServices,
  { model }: z.output<typeof holdFactorReset>,
): Promise<{ object: 'hold_factor_reset'; model: string; forgotten_accounts: number }> {
  const found = services.catalog().resolve(model);
  if (!('model' in found)) {
    throw new OperatorError('not_found', `No model is called "${model}".`, 'tollgate models');
  }
  const { id } = found.model;
  const audit = auditRow(services, { action: 'model.reset_factor', subject: id });
  const forgotten = await services.store.directory.forgetTokenOverruns(id, audit);
  return { object: 'hold_factor_reset', model: id, forgotten_accounts: forgotten };
}
