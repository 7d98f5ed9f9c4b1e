import { HOST_MEMBERS } from '../fields/host-members.ts';

/**
 * Members that are removed from responses: they reveal the host or its bill. `output_text` is not part of the wire; if a
 * host sends it, mostly empty, SDKs use it instead of joining the parts.
 */
export const UNWANTED_MEMBERS: readonly string[] = [...HOST_MEMBERS, 'billing', 'cost_token', 'output_text'];
