import { ApiError } from './client.ts';
import { localToken } from './session.ts';

export interface CallTerms {
  readonly model: string;
  readonly text: string;
  /** The key that pays; null in local mode without one. */
  readonly keyId: string | null;
}

export interface CallResult {
  readonly requestId: string;
  readonly text: string;
}

/** Makes one call as the page: it names the key that pays, and never sees its secret. */
export async function callModel({ model, text, keyId }: CallTerms): Promise<CallResult> {
  const token = localToken();
  const response = await fetch('/v1/chat/completions', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(keyId === null ? {} : { 'x-gateway-key': keyId }),
      ...(keyId === null || token === null ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: text }] }),
  });
  const requestId = response.headers.get('x-gateway-request-id') ?? '';
  const body = (await response.json()) as {
    error?: { message: string; code: string | null };
    choices?: readonly { message: { content: string | null } }[];
  };
  if (!response.ok)
    throw new ApiError(
      response.status,
      body.error?.code ?? 'failed',
      body.error?.message ?? 'The call failed.',
      requestId,
    );
  return { requestId, text: body.choices?.[0]?.message.content ?? '' };
}
