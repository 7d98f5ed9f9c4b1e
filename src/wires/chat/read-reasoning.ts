import { GatewayError } from '../../canonical/errors.ts';
import type { ReasoningAsk } from '../../canonical/reasoning.ts';
import { isAbsent, isObject, type Members } from '../fields/members.ts';
import { readReasoning as readSpellings } from '../fields/read-reasoning.ts';

const MEMBERS = ['effort', 'max_tokens', 'enabled', 'exclude'];

/** Reads every field that asks for reasoning. The `reasoning` object is not sent to hosts, so unknown members are refused. */
export function readReasoning(body: Members): ReasoningAsk | null {
  const { reasoning } = body;
  const unknown = isObject(reasoning)
    ? Object.keys(reasoning).find((name) => !isAbsent(reasoning[name]) && !MEMBERS.includes(name))
    : undefined;
  if (unknown === undefined) return readSpellings(body);
  throw new GatewayError('unsupported_parameter', {
    param: `reasoning.${unknown}`,
    message: `\`reasoning.${unknown}\` is not supported on this route; \`reasoning\` takes ${MEMBERS.join(', ')}.`,
  });
}
