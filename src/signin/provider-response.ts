/** An error code of OAuth. It is somebody else's text, so anything longer or stranger is left out. */
const ERROR_CODE = /^[\w.-]{1,64}$/;

/** The members that errors of `openid-client` may have. A cause is a response, or what the header `WWW-Authenticate` says. */
interface FailedResponse {
  readonly status?: unknown;
  readonly error?: unknown;
  readonly cause?: { readonly status?: unknown; readonly 0?: { readonly parameters?: { readonly error?: unknown } } };
}

/** What the provider answered, for the log: the message of the error only says that it was not a success. */
export function providerFields(error: unknown): {
  readonly provider_status?: number;
  readonly provider_error?: string;
} {
  const failed = Object(error) as FailedResponse;
  const status = failed.status ?? failed.cause?.status;
  const code = failed.error ?? failed.cause?.[0]?.parameters?.error;
  return {
    ...(typeof status === 'number' && { provider_status: status }),
    ...(typeof code === 'string' && ERROR_CODE.test(code) && { provider_error: code }),
  };
}
