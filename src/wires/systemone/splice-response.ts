import { HOST_MEMBERS } from '../fields/host-members.ts';
import { isObject, type Members } from '../fields/members.ts';
import { decisionUsageText, readDecision, readDecisionUsage } from '../fields/typed-decision.ts';
import type { BufferedResponse, RelayTerms } from '../wire.ts';

/** The host's own bytes with the bill; `model` stays the version id that the host sent. */
export function spliceResponse(body: Buffer, { request, catalogModel, quirks }: RelayTerms): BufferedResponse {
  const text = readDecision(body, namesIn(request));
  const { usage, model } = text.value as Members;
  return {
    usage: readDecisionUsage(usage, quirks),
    relayedBytes: 0,
    write: (bill) => {
      const edit = text.edit().set(['usage'], decisionUsageText(bill, usage));
      if (typeof model !== 'string') edit.set(['model'], JSON.stringify(catalogModel));
      for (const name of HOST_MEMBERS) edit.remove([name]);
      return edit.apply();
    },
  };
}

function namesIn(request: unknown): string[] {
  return isObject(request) && isObject(request.questions) ? Object.keys(request.questions) : [];
}
