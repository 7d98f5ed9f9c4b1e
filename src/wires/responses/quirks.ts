import { HOST_MEMBERS } from '../fields/host-members.ts';

/**
 * Members that no client should get: they name the host or tell of its bill for our account. `output_text` is none of
 * the wire's at all; where a host sends one, mostly empty, SDKs believe it instead of joining the words themselves.
 */
export const UNWANTED_MEMBERS: readonly string[] = [...HOST_MEMBERS, 'billing', 'cost_token', 'output_text'];
