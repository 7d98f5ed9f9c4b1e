import type { HostQuirks } from '../../canonical/host-quirks.ts';
import type { Block, OpaqueReasoning } from '../../canonical/request.ts';
import { tryParseJson } from '../../json/json.ts';
import { isAbsent, isObject, type Members, objectsIn } from '../fields/members.ts';

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

/** The inverse: the signatures among the reasoning of a turn, by the id of their call; those that did not come back are missing. */
export function callSignatures(blocks: readonly Block[], quirks: HostQuirks): ReadonlyMap<string, Members> {
  const vendor = signingVendor(quirks);
  const signatures = new Map<string, Members>();
  for (const block of vendor === null ? [] : blocks) {
    const opaque = block.kind === 'reasoning' ? block.opaque : null;
    if (opaque?.id === undefined || opaque.vendor !== vendor || signatures.has(opaque.id)) continue;
    const signature = tryParseJson(opaque.data);
    if (isObject(signature)) signatures.set(opaque.id, { [CALL_SIGNATURE]: signature });
  }
  return signatures;
}

/** Whether the calls of a turn came back without any signature; only the first of several calls has one. */
export function isUnsigned(message: Readonly<Members>): boolean {
  const calls = objectsIn(message.tool_calls);
  return calls.length > 0 && [message, ...calls].every((holder) => isAbsent(holder[CALL_SIGNATURE]));
}
