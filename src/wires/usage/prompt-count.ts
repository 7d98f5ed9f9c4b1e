import { GatewayError } from '../../canonical/errors.ts';
import { tryParseJson } from '../../json/json.ts';
import { isCount, isObject } from '../fields/members.ts';
import { HostResponseBroken } from '../wire.ts';

/** For a field that a route for counting prompts refuses. */
export function notCounted(param: string): GatewayError {
  const message = `\`${param}\` is not part of the prompt and cannot be counted; leave it out.`;
  return new GatewayError('unsupported_parameter', { param, message });
}

export function readPromptCount(body: Buffer): number {
  const response = tryParseJson(body.toString('utf8'));
  if (isObject(response) && isCount(response.input_tokens)) return response.input_tokens;
  throw new HostResponseBroken("The host's response is not a token count.");
}
