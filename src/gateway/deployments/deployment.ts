import type { Caller } from '../../accounts/authenticate.ts';
import { GatewayError } from '../../canonical/errors.ts';
import type { CatalogModel } from '../../catalog/model.ts';
import type { Custody } from '../../custody/custody.ts';
import { PROVIDER_ROWS, type ProviderRow } from '../../custody/providers.ts';
import { estimateInputTokens } from '../../money/estimate-tokens.ts';
import { DEFAULT_FRAMING } from '../../money/framing.ts';
import { FREE } from '../../money/price.ts';
import type { Peek } from '../../wires/peek.ts';
import type { Admission } from '../admit.ts';
import type { Call } from '../call.ts';
import type { ChosenModel } from '../choose-model.ts';
import type { ExchangeRecord } from '../exchange-record.ts';
import type { Gateway } from '../gateway.ts';
import type { CallContext } from '../host-call.ts';
import { deploymentCall } from './deployment-call.ts';
import type { Deployment } from './deployment-target.ts';

interface Asked {
  readonly provider: ProviderRow;
  readonly name: string;
  /** Written as `cloud/<name>`, which can only mean a deployment. */
  readonly isExplicit: boolean;
}

/** Treats a name that is not in the catalog as the caller's own deployment; throws `refusal` if the caller has none. */
export async function admitDeployment(
  { custody, deploymentWork }: Pick<Gateway, 'custody' | 'deploymentWork'>,
  context: Omit<CallContext, 'admission'>,
  refusal: GatewayError,
  record: ExchangeRecord,
): Promise<ChosenModel> {
  const { call, peek } = context;
  const deployment = await findDeployment(custody, call, peek.model, refusal);
  const admission = admissionOf(deployment, peek);
  record.deploymentOf = deployment.resource.provider.slug;
  return { admission, hostCalls: [deploymentCall({ ...context, admission }, deployment, deploymentWork)] };
}

async function findDeployment(
  custody: Pick<Custody, 'open'>,
  call: Call,
  requested: string,
  refusal: GatewayError,
): Promise<Deployment> {
  const asked = readAsked(call, requested, refusal);
  const { provider, name } = asked;
  const resource = await custody.open(call.caller.accountId, provider);
  if (resource !== null) return { name, resource };
  throw withoutKey(asked, requested, refusal);
}

/** Throws, or rejects, unless the name may be that of a deployment for which the caller has stored a key. */
export function refuseWithoutKey(
  custody: Pick<Custody, 'has'>,
  call: Call,
  requested: string,
  refusal: GatewayError,
): Promise<void> {
  const asked = readAsked(call, requested, refusal);
  return custody.has(call.caller.accountId, asked.provider).then((has) => {
    if (!has) throw withoutKey(asked, requested, refusal);
  });
}

/** Whether a name may be that of a deployment which this caller can call. Names are not stored, so nobody knows for sure. */
export async function mayBeDeployment(
  custody: Pick<Custody, 'has'>,
  caller: Caller,
  requested: string,
): Promise<boolean> {
  const asked = readName(requested);
  return asked !== null && mayCall(caller, asked) && custody.has(caller.accountId, asked.provider);
}

function withoutKey({ provider, isExplicit }: Asked, requested: string, refusal: GatewayError): GatewayError {
  return isExplicit ? noKeyStored(requested, provider) : refusal;
}

/** Throws if the name cannot be one of a deployment that this caller may call here. */
function readAsked({ caller, wire }: Call, requested: string, refusal: GatewayError): Asked {
  const asked = readName(requested);
  if (asked === null || !mayCall(caller, asked)) throw refusal;
  const { provider, isExplicit } = asked;
  if (!provider.wires.some((name) => name === wire.name)) throw isExplicit ? notOnThisWire(provider) : refusal;
  return asked;
}

function readName(requested: string): Asked | null {
  const slash = requested.indexOf('/');
  // A name without a provider means the first provider; there is only one so far.
  if (slash === -1) return { provider: PROVIDER_ROWS[0]!, name: requested, isExplicit: false };
  const provider = PROVIDER_ROWS.find(({ slug }) => slug === requested.slice(0, slash));
  const name = requested.slice(slash + 1);
  return provider === undefined || name === '' ? null : { provider, name, isExplicit: true };
}

/** A key with a list of models may use a deployment only if the list names it, in either form. */
function mayCall({ key }: Caller, { provider, name }: Asked): boolean {
  const models = key?.models ?? null;
  return models === null || models.includes(name) || models.includes(`${provider.slug}/${name}`);
}

function notOnThisWire({ slug, wires }: ProviderRow): GatewayError {
  return new GatewayError('wrong_wire', {
    param: 'model',
    message: `Deployments of "${slug}" cannot be called on this route; they can on ${wires.join(', ')}.`,
  });
}

function noKeyStored(requested: string, { slug }: ProviderRow): GatewayError {
  return new GatewayError('model_not_found', {
    param: 'model',
    message: `The model ${JSON.stringify(requested)} cannot be called, because no key of yours is stored for "${slug}". Store one with PUT /v1/keys/${slug}.`,
  });
}

/** The provider bills the caller: the hold is 0, and so is the cost. */
function admissionOf({ name, resource }: Deployment, peek: Peek): Admission {
  const inputEstimateTokens = estimateInputTokens(peek.size);
  return {
    model: modelOf(name, resource.provider),
    outputLimit: peek.outputLimit?.tokens ?? peek.defaultOutputLimit,
    clamped: null,
    reasoningEffort: null,
    answers: peek.answers,
    inputBound: Number.MAX_SAFE_INTEGER,
    tierBound: Number.MAX_SAFE_INTEGER,
    outputBound: Number.MAX_SAFE_INTEGER,
    cacheWrites: 'none',
    counted: null,
    inputEstimateTokens,
    worstNanousd: 0n,
    inputNanousd: 0n,
  };
}

/** The deployment as a catalog model: only its name is known, and it is free here. */
function modelOf(name: string, { slug }: ProviderRow): CatalogModel {
  return {
    id: name,
    name,
    vendor: slug,
    createdSeconds: 0,
    aliases: [],
    caps: new Set(),
    contextWindow: Number.MAX_SAFE_INTEGER,
    maxOutputTokens: Number.MAX_SAFE_INTEGER,
    tokenizer: null,
    tokenFactor: { factor: 1, source: 'free' },
    framing: DEFAULT_FRAMING,
    imageTokensMax: null,
    reasoningEfforts: [],
    fixedSampling: false,
    embedding: null,
    cacheWriter: 'marked',
    price: FREE,
    hosts: [],
  };
}
