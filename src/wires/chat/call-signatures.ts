import type { Block, OpaqueReasoning } from '../../canonical/request.ts';
import { tryParseJson } from '../../json/json.ts';
import { isAbsent, isObject, type Members, objectsIn } from '../fields/members.ts';
import type { HostQuirks } from '../quirks.ts';

/** The member of a tool call in which a vendor signs it. Its hosts refuse the call without it in later turns. */
export const CALL_SIGNATURE = 'extra_content';

/** The vendor that signs the calls of a host; null if none does. */
export function signingVendor({ seals, unsignedCall }: HostQuirks): string | null {
  return unsignedCall === undefined || seals === undefined ? null : seals;
}

/** The signature of a call as opaque reasoning with the call's id: clients of other wires send that back. */
export function readCallSignature(call: Members, vendor: string | null): OpaqueReasoning | null {
  const signature = call[CALL_SIGNATURE];
  if (vendor === null || !isObject(signature) || typeof call.id !== 'string') return null;
  return { vendor, form: 'signature', data: JSON.stringify(signature), id: call.id };
}

/** The inverse: the signature of a call among the reasoning of its turn; empty if it did not come back. */
export function writeCallSignature(id: string, blocks: readonly Block[], quirks: HostQuirks): Members {
  const vendor = signingVendor(quirks);
  for (const block of vendor === null ? [] : blocks) {
    const opaque = block.kind === 'reasoning' ? block.opaque : null;
    const signature = opaque?.vendor === vendor && opaque?.id === id ? tryParseJson(opaque.data) : null;
    if (isObject(signature)) return { [CALL_SIGNATURE]: signature };
  }
  return {};
}

/** Whether the calls of a turn came back without any signature; only the first of several calls has one. */
export function isUnsigned(message: Readonly<Members>): boolean {
  const calls = objectsIn(message.tool_calls);
  return calls.length > 0 && [message, ...calls].every((holder) => isAbsent(holder[CALL_SIGNATURE]));
}
