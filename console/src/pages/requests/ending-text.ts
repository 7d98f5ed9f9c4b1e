import type { Receipt } from '../../api/generated/routes.ts';

const ENDED: Readonly<Record<NonNullable<Receipt['ended']>, string>> = {
  complete: 'The host finished its response.',
  failed: 'No host answered before any content was sent, so nothing is charged.',
  upstream_error: 'The host did not finish its response.',
  timeout: 'The host took too long.',
  shutdown: 'The gateway was shut down during the call.',
  client_gone: 'The client hung up.',
  stalled: 'The client read nothing for a minute, which counts as hanging up.',
  died: 'The gateway died or could not write to its ledger, so the whole hold was returned.',
};

const SOURCES: Readonly<Record<Receipt['usage_source'], string>> = {
  reported: 'The tokens are those that the host reported.',
  partial: 'The host reported only some of the tokens; the rest is estimated from what it sent.',
  estimated: 'The host reported no tokens, so they are estimated from what it sent.',
  drained: 'The response was read to its end to get the host’s token counts.',
  none: 'Nothing was billed, and the token counts are unknown.',
};

/** How a call ended, and why that costs what it costs. */
export function endingText({ ended, usage_source, hangup_charged, cost_nanousd }: Receipt): string {
  if (ended === null)
    return 'The call is still running. Its cost is known when it ends; until then the amount below is held.';
  const free = cost_nanousd === 0n && ended !== 'complete' && ended !== 'failed' && ended !== 'died';
  return [
    ENDED[ended],
    free ? 'No content had arrived, so nothing is charged.' : SOURCES[usage_source],
    ...(hangup_charged
      ? ['The allowance for hanging up was used up, so the response was read to its end and charged.']
      : []),
  ].join(' ');
}
