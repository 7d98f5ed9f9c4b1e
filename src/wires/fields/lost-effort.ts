import type { CanonicalReasoning } from '../../canonical/request.ts';
import type { JsonText } from '../../json/json.ts';
import type { Adjustments } from '../adjustments.ts';
import type { UpstreamTerms } from '../wire.ts';
import { isAbsent, type Members } from './members.ts';
import { readReasoning } from './read-reasoning.ts';

/**
 * Names an effort that no field of the host carries, because the model's row has no efforts. A wish to switch
 * reasoning off is lost only where the model may reason all the same.
 */
export function noteLostEffort(
  asked: Pick<CanonicalReasoning, 'effort'> | null,
  { hasNoSwitch = false }: Pick<UpstreamTerms, 'hasNoSwitch'>,
  adjustments: Adjustments,
  param = 'reasoning',
): void {
  if (asked === null || asked.effort === null) return;
  if (asked.effort !== 'none' || hasNoSwitch) adjustments.note(param);
}

/** The same for a host of the caller's wire. */
export function noteWithheldEffort({ value }: JsonText, terms: UpstreamTerms, adjustments: Adjustments): void {
  const body = value as Members;
  if (terms.reasoningEffort !== null || (isAbsent(body.reasoning) && isAbsent(body.reasoning_effort))) return;
  const asked = readReasoning(body);
  noteLostEffort(asked, terms, adjustments, asked?.param);
}
