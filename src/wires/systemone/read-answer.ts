import type { Members } from '../members.ts';
import { readDecision, readDecisionUsage, writeDecisionUsage } from '../typed-decision.ts';
import type { BufferedAnswer } from '../wire.ts';

/** The host's answer with the bill written in; `model` stays the id of the version that answered, as the host said it. */
export function readAnswer(body: Buffer): BufferedAnswer {
  const text = readDecision(body);
  const { usage } = text.value as Members;
  return {
    usage: readDecisionUsage(usage),
    relayedBytes: 0,
    write: (bill) => text.edit().set(['usage'], writeDecisionUsage(bill, usage)).apply(),
  };
}
