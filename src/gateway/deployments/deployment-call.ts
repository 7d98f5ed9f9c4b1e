import { GatewayError } from '../../canonical/errors.ts';
import type { Candidate } from '../../hosts/directory.ts';
import type { HostRow } from '../../hosts/host.ts';
import { type JsonText, readJson, tryParseJson } from '../../json/json.ts';
import { LIMITS } from '../../limits.ts';
import { FREE } from '../../money/price.ts';
import { type BufferedAnswer, HostAnswerBroken, type HostError, type RelayTerms } from '../../wires/wire.ts';
import type { CallContext, HostCall } from '../host-call.ts';
import { VerbatimStream, withoutDefect } from './deployment-stream.ts';
import type { Deployment } from './deployment-target.ts';

/** The way to a caller's own deployment: the caller's bytes go as they are, and the provider's come back so. */
export function deploymentCall(context: CallContext, deployment: Deployment): HostCall {
  const { call, text, peek } = context;
  const { name, resource } = deployment;
  const { relay, client } = call.wire;
  const terms = relayTerms(context, name);
  const asCallersOwn = (error: HostError): HostError => callersOwn(error, error.status, null, deployment);
  return {
    candidate: candidateOf(deployment),
    path: relay.path,
    headers: {},
    body: () => (peek.model === name ? call.body : text.edit().set(['model'], JSON.stringify(name)).apply()),
    openStream: () =>
      new VerbatimStream({
        reader: relay.stream!.mend(terms),
        asCallersOwn,
        writeError: (error) => client.writeStreamError(error, call.requestId),
        hideKey: (said) => resource.hideKey(said),
      }),
    spliceResponse: (body) => spliceResponse(context, terms, body),
    answerAsStream: (body) => relay.stream?.answerAsStream(body) ?? null,
    readError: (status, body) => callersOwn(relay.readError(status, body), status, body, deployment),
    explain: (failure) => resource.explain(failure),
  };
}

function relayTerms({ call, text, peek, createdS, frameMemory }: CallContext, name: string): RelayTerms {
  return {
    catalogModel: name,
    requestId: call.requestId,
    createdS,
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

/** The provider in the place of a host: in receipts it is the host; a caller who hangs up no longer wants to pay it. */
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
    slots: {},
  };
}

/** The provider's bytes; only in its usage our own cost is said, which is nothing. */
function spliceResponse({ call }: CallContext, terms: RelayTerms, body: Buffer): BufferedAnswer {
  const text = parseObject(body);
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

/** Answers that the wire's own rules would not take are the provider's to give, as long as they are JSON. */
function tryReading(read: () => BufferedAnswer): BufferedAnswer | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof HostAnswerBroken) return null;
    throw error;
  }
}

function parseObject(body: Buffer): JsonText {
  try {
    const text = readJson(body);
    if (isObject(text.value)) return text;
  } catch {
    // Told below, like everything that is no answer.
  }
  throw new HostAnswerBroken('The provider answered with something that is no JSON object.');
}

/**
 * The provider's own error, as it is; but for a key that it refuses, which is the stored row's failure. Of the kind that
 * no other host is asked for, and nobody's alarm; what it says is between it and the caller, and not for our log.
 */
function callersOwn(error: HostError, status: number, body: Buffer | null, { resource }: Deployment): HostError {
  const forCaller = errorForCaller(error.message, status, body, resource);
  return { kind: 'request', status, message: '', code: null, param: null, forCaller };
}

function errorForCaller(
  message: string,
  status: number,
  body: Buffer | null,
  { provider, hideKey }: Deployment['resource'],
): GatewayError {
  if (status === 401 || status === 403) {
    return new GatewayError('provider_key_failed', {
      message: `The provider "${provider.slug}" refused the stored key (${status}). Store a good one with PUT /v1/keys/${provider.slug}.`,
    });
  }
  const said = hideKey(message) || `The provider "${provider.slug}" answered with status ${status}.`;
  const own = body === null ? null : jsonText(body);
  return new GatewayError('host_refused_request', {
    message: said,
    // What lies beyond is no status that a client could know.
    status: status > 599 ? 502 : status,
    ...(own === null ? {} : { body: hideKey(own) }),
  });
}

/** An error page for people is not passed on to programs. */
function jsonText(body: Buffer): string | null {
  if (body.length > LIMITS.hostErrorBytesMax) return null;
  const text = body.toString('utf8');
  const value = tryParseJson(text);
  return isObject(value) || Array.isArray(value) ? text : null;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
