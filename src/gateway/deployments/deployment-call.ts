import { GatewayError } from '../../canonical/errors.ts';
import type { Candidate } from '../../hosts/directory.ts';
import type { HostRow } from '../../hosts/host.ts';
import { type JsonText, readJson, tryParseJson } from '../../json/json.ts';
import { LIMITS } from '../../limits.ts';
import { FREE } from '../../money/price.ts';
import { type BufferedResponse, type HostError, HostResponseBroken, type RelayTerms } from '../../wires/wire.ts';
import type { DeploymentWork } from '../guards/deployment-work.ts';
import type { CallContext, HostCall } from '../host-call.ts';
import { VerbatimStream, withoutDefect } from './deployment-stream.ts';
import type { Deployment } from './deployment-target.ts';

/** The call to a caller's own deployment. Request and response bytes pass through unchanged. */
export function deploymentCall(context: CallContext, deployment: Deployment, work: DeploymentWork): HostCall {
  const { call, text, peek } = context;
  const { accountId } = call.caller;
  const checkWork = (json: Buffer): void => throwIf(work.refusal(accountId, json));
  const { name, resource } = deployment;
  const { relay, client } = call.wire;
  const terms = relayTerms(context, name);
  const asCallersOwn = (error: HostError): HostError => callersOwn(error, error.status, null, deployment);
  return {
    candidate: candidateOf(deployment),
    path: relay.path,
    headers: {},
    adjusted: null,
    body: () => (peek.model === name ? text.bytes : text.edit().set(['model'], JSON.stringify(name)).apply()),
    openStream: () => {
      const refusalOf = work.ofStream(accountId);
      return new VerbatimStream({
        reader: relay.stream!.mend(terms),
        checkWork: (frame) => throwIf(refusalOf(frame)),
        asCallersOwn,
        writeError: (error) => client.writeStreamError(error, call.requestId),
        hideKey: (said) => resource.hideKey(said),
      });
    },
    spliceResponse: (body) => {
      checkWork(body);
      return spliceResponse(context, terms, body, deployment);
    },
    responseAsStream: (body) => {
      checkWork(body);
      return relay.stream?.responseAsStream(body) ?? null;
    },
    readError: (status, body) => callersOwn(relay.readError(status, body), status, body, deployment),
    explain: (failure) => (failure instanceof HostResponseBroken ? unusable(deployment) : resource.explain(failure)),
  };
}

function throwIf(refusal: GatewayError | null): void {
  if (refusal !== null) throw new HostResponseBroken(refusal.message, ours(refusal));
}

function relayTerms({ call, text, peek, createdS, nowS, frameMemory }: CallContext, name: string): RelayTerms {
  return {
    catalogModel: name,
    requestId: call.requestId,
    createdS,
    nowS,
    wantsUsageFrame: peek.wantsUsageFrame,
    hideReasoning: false,
    request: text.value,
    quirks: {},
    parseEveryFrame: !frameMemory,
  };
}

const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'user-agent': 'tollgate',
};

function candidateOf({ name, resource }: Deployment): Candidate {
  return {
    host: {
      row: rowOf(resource.provider),
      send: (path, wireHeaders, body, receiver) => resource.send(path, { ...HEADERS, ...wireHeaders }, body, receiver),
      hideKey: (text) => resource.hideKey(text),
    },
    wires: resource.provider.wires,
    hostModel: name,
    price: FREE,
    health: null,
  };
}

/**
 * Describes the provider as a host, for receipts. It is cancelled when the caller disconnects, since the caller pays
 * for it.
 */
function rowOf({ slug, wires }: Deployment['resource']['provider']): HostRow {
  return {
    name: slug,
    baseUrl: '',
    wires,
    auth: { header: 'api-key', scheme: null },
    keyVariables: [],
    reducesVectors: true,
    outputLimitField: 'max_tokens',
    forwards: [],
    onClientGone: 'cancel',
    simulated: false,
    quirks: {},
  };
}

/** Keeps the provider's bytes and only adds our cost, which is zero, to the usage. */
function spliceResponse(
  { call }: CallContext,
  terms: RelayTerms,
  body: Buffer,
  deployment: Deployment,
): BufferedResponse {
  const text = parseObject(body, deployment);
  const seen = tryReading(() => call.wire.relay.spliceResponse(body, terms));
  const hasUsage = isObject((text.value as { usage?: unknown }).usage);
  return {
    usage: withoutDefect(seen?.usage ?? { state: 'missing' }),
    relayedBytes: seen?.relayedBytes ?? 0,
    write: ({ costUsd, costNanousd }) => {
      if (!hasUsage) return body;
      const edit = text.edit().set(['usage', 'cost'], String(costUsd));
      return edit.set(['usage', 'cost_nanousd'], String(costNanousd)).apply();
    },
  };
}

/** The response came, but its bytes are not what the wire or the request asks for. */
function unusable({ resource }: Deployment): GatewayError {
  const message = `The provider "${resource.provider.slug}" sent a response that cannot be used. Nothing was charged.`;
  return new GatewayError('host_failed', { message });
}

/** A response that breaks the wire's rules is still passed on, as long as it is JSON. */
function tryReading(read: () => BufferedResponse): BufferedResponse | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof HostResponseBroken) return null;
    throw error;
  }
}

function parseObject(body: Buffer, { resource }: Deployment): JsonText {
  try {
    const text = readJson(body);
    if (isObject(text.value)) return text;
  } catch {
    // Reported below, like every other invalid response.
  }
  const sent = `The provider "${resource.provider.slug}" sent a response that is not a JSON object.`;
  throw new HostResponseBroken(
    sent,
    ours(new GatewayError('host_failed', { message: `${sent} Nothing was charged.` })),
  );
}

/**
 * Passes the provider's own error on unchanged, except for a refused key, which is reported as a failure of the stored
 * key. The kind `request` prevents a retry and an alarm. The error's text is left out of our log.
 */
function callersOwn(error: HostError, status: number, body: Buffer | null, { resource }: Deployment): HostError {
  const forCaller = errorForCaller(error.message, status, body, resource);
  return { kind: 'request', status, message: '', code: null, param: null, forCaller };
}

function ours(forCaller: GatewayError): HostError {
  return { kind: 'request', status: forCaller.status, message: forCaller.message, code: null, param: null, forCaller };
}

function errorForCaller(
  message: string,
  status: number,
  body: Buffer | null,
  { provider, hideKey }: Deployment['resource'],
): GatewayError {
  if (status === 401 || status === 403) {
    return new GatewayError('provider_key_failed', {
      message: `The provider "${provider.slug}" refused the stored key (${status}). Store a valid key with PUT /v1/keys/${provider.slug}.`,
    });
  }
  const said = hideKey(message) || `The provider "${provider.slug}" answered with status ${status}.`;
  const own = body === null ? null : jsonText(body);
  return new GatewayError('host_refused_request', {
    message: said,
    // Clients do not know statuses above 599.
    status: status > 599 ? 502 : status,
    ...(own === null ? {} : { body: hideKey(own) }),
  });
}

/** An HTML error page is not passed on. */
function jsonText(body: Buffer): string | null {
  if (body.length > LIMITS.hostErrorBytesMax) return null;
  const text = body.toString('utf8');
  const value = tryParseJson(text);
  return isObject(value) || Array.isArray(value) ? text : null;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
