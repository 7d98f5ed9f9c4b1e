import { toSeconds } from '../kit/unix-seconds.ts';
import type { KeyChange, KeyRow, OwnerTerms } from '../store/store.ts';
import { OperatorError } from './error.ts';
import type { OperatorServices } from './services.ts';

type Terms = Pick<KeyRow, 'capNanousd' | 'capWindow' | 'expiresMs' | 'models' | 'maxCostNanousd'>;

/** A member manages their own keys, but does not loosen what an owner or an operator fixed for one of them. */
export async function actsAsMember(
  { store, actor }: OperatorServices,
  { accountId, personId }: Pick<KeyRow, 'accountId' | 'personId'>,
): Promise<boolean> {
  if (actor.kind !== 'person' || actor.id === null || actor.id !== personId) return false;
  const person = await store.directory.findPerson(actor.id);
  if (person?.isOperator === true) return false;
  const roles = await store.directory.membershipsOf(actor.id);
  return !roles.some((each) => each.accountId === accountId && each.role === 'owner');
}

/** The terms that are fixed once an owner has set them. A term that is set to "no limit" is free again. */
export function fixedTerms(key: Terms & { readonly ownerTerms: OwnerTerms }, change: KeyChange): OwnerTerms {
  const changed: Terms = { ...key, ...change };
  const isCapSet = change.capNanousd !== undefined || change.capWindow !== undefined;
  return {
    ...(isCapSet ? capOf(changed) : capOf(key.ownerTerms)),
    ...present('maxCostNanousd', change.maxCostNanousd === undefined ? key.ownerTerms : changed),
    ...present('models', change.models === undefined ? key.ownerTerms : changed),
    ...present('expiresMs', change.expiresMs === undefined ? key.ownerTerms : changed),
  };
}

type Loose<Of> = { readonly [Name in keyof Of]?: Of[Name] | null | undefined };

function capOf({ capNanousd, capWindow }: Loose<OwnerTerms>): OwnerTerms {
  return capNanousd == null || capWindow == null ? {} : { capNanousd, capWindow };
}

function present<Name extends keyof OwnerTerms>(name: Name, terms: Loose<OwnerTerms>): OwnerTerms {
  return terms[name] == null ? {} : { [name]: terms[name] };
}

/** Throws if the changed key would exceed what an owner has fixed. */
export function refuseBeyond({ ownerTerms: fixed, ...key }: KeyRow, change: KeyChange): void {
  const wanted: Terms = { ...key, ...change };
  const { capNanousd: cap, models } = fixed;
  if (cap !== undefined && (isAbove(wanted.capNanousd, cap) || wanted.capWindow !== fixed.capWindow))
    throw beyond(
      change.capWindow === undefined ? 'spend_cap_nanousd' : 'window',
      `${cap} in the window ${fixed.capWindow}`,
    );
  if (fixed.maxCostNanousd !== undefined && isAbove(wanted.maxCostNanousd, fixed.maxCostNanousd))
    throw beyond('max_cost_nanousd', String(fixed.maxCostNanousd));
  if (fixed.expiresMs !== undefined && isAbove(wanted.expiresMs, fixed.expiresMs))
    throw beyond('expires_at', String(toSeconds(fixed.expiresMs)));
  if (models !== undefined && !(wanted.models?.every((model) => models.includes(model)) ?? false))
    throw beyond('models', models.join(', '));
}

/** Null is no limit. */
function isAbove<Amount extends bigint | number>(wanted: Amount | null, fixed: Amount): boolean {
  return wanted === null || wanted > fixed;
}

function beyond(field: string, fixed: string): OperatorError {
  return new OperatorError(
    'refused',
    `${field} goes beyond what an owner has set for this key: ${fixed}. Ask an owner of the account to change it.`,
  );
}
