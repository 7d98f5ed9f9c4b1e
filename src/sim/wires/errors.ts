import { jsonReply, type Refusal, type Reply } from '../reply.ts';

export function errorJson({ message, type, param, code }: Refusal): string {
  return JSON.stringify({ message, type, param, code });
}

/** The error envelope of all wires but two. */
export function refusePlainly(refusal: Refusal): Reply {
  const headers = refusal.status === 429 ? { 'retry-after': '1' } : {};
  return jsonReply(refusal.status, `{"error":${errorJson(refusal)}}`, headers);
}

type UsualError = Omit<Refusal, 'status' | 'param'>;

const USUAL_ERRORS: Record<number, UsualError> = {
  400: { message: 'Simulated: the request was invalid.', type: 'invalid_request_error', code: 'invalid_value' },
  401: { message: 'Simulated: incorrect API key provided.', type: 'invalid_request_error', code: 'invalid_api_key' },
  403: {
    message: 'Simulated: this region or project is not allowed.',
    type: 'invalid_request_error',
    code: 'unsupported_country_region_territory',
  },
  404: {
    message: 'Simulated: the model does not exist or you have no access to it.',
    type: 'invalid_request_error',
    code: 'model_not_found',
  },
  429: {
    message: 'Simulated: rate limit reached for requests. Please try again in 1s.',
    type: 'requests',
    code: 'rate_limit_exceeded',
  },
  500: {
    message: 'Simulated: the server had an error while processing your request.',
    type: 'server_error',
    code: null,
  },
  503: {
    message: 'Simulated: the engine is currently overloaded, please try again later.',
    type: 'server_error',
    code: null,
  },
};

export function usualError(status: number): Refusal {
  return { status, param: null, ...(USUAL_ERRORS[status] ?? USUAL_ERRORS[status < 500 ? 400 : 500]!) };
}
