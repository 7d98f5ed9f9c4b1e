import { ApiError, fetchGateway } from './client.ts';
import { parseApiJson } from './json.ts';
import { localToken } from './session.ts';

interface CallTerms {
  readonly model: string;
  readonly text: string;
  /** The key that pays; null in local mode without one. */
  readonly keyId: string | null;
}

export interface CallResult {
  readonly requestId: string;
  readonly text: string;
}

export interface Quote {
  readonly model: string;
  readonly worst_case_nanousd: bigint;
  readonly likely_nanousd: bigint;
  readonly fits: { readonly ceiling: boolean; readonly cap: boolean; readonly balance: boolean };
}

/** Headers of a call from the page: they name the key that pays, and never have its secret. */
export function callHeaders(keyId: string | null): Readonly<Record<string, string>> {
  const token = localToken();
  return {
    'content-type': 'application/json',
    ...(keyId === null ? {} : { 'x-gateway-key': keyId }),
    ...(keyId === null || token === null ? {} : { authorization: `Bearer ${token}` }),
  };
}

/** Makes one call as the page. */
export async function callModel({ model, text, keyId }: CallTerms): Promise<CallResult> {
  const response = await fetchGateway('/v1/chat/completions', {
    method: 'POST',
    headers: callHeaders(keyId),
    body: JSON.stringify({ model, messages: [{ role: 'user', content: text }] }),
  });
  const requestId = response.headers.get('x-gateway-request-id') ?? '';
  if (!response.ok) throw await callError(response);
  const body = (await response.json()) as { choices?: readonly { message: { content: string | null } }[] };
  return { requestId, text: body.choices?.[0]?.message.content ?? '' };
}

/** What a call would hold and probably cost. It is not made. */
export async function quoteCall({
  model,
  text,
  keyId,
  maxTokens,
}: CallTerms & { readonly maxTokens: number | null }): Promise<Quote> {
  const response = await fetchGateway('/v1/quote', {
    method: 'POST',
    headers: callHeaders(keyId),
    body: JSON.stringify({
      path: '/v1/chat/completions',
      body: {
        model,
        messages: [{ role: 'user', content: text }],
        ...(maxTokens === null ? {} : { max_tokens: maxTokens }),
      },
    }),
  });
  if (!response.ok) throw await callError(response);
  return parseApiJson(await response.text()) as Quote;
}

/** The refusal of a call, in the format of whichever route it was. */
export async function callError(response: Response): Promise<ApiError> {
  const requestId = response.headers.get('x-gateway-request-id');
  const body = (await response.json().catch(() => ({}))) as {
    error?: { message?: string; code?: string | null; type?: string };
  };
  const { message, code, type } = body.error ?? {};
  return new ApiError(
    response.status,
    code ?? type ?? 'failed',
    message ?? `The call failed with status ${response.status}.`,
    requestId,
  );
}

/** What a job was answered, indented if it is JSON. */
export async function readJobResult(jobId: string, keyId: string | null): Promise<string> {
  const response = await fetchGateway(`/v1/jobs/${encodeURIComponent(jobId)}/result`, { headers: callHeaders(keyId) });
  const text = await response.text();
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
