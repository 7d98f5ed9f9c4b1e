/** The wires that a host can be called on. */
export const HOST_WIRES = ['chat', 'messages', 'responses', 'completions', 'embeddings', 'systemone'] as const;
export type HostWire = (typeof HOST_WIRES)[number];

/** Every wire that a caller can use; `decisions` is a newer form of `systemone`, and its hosts are called on `systemone`. */
export const WIRE_NAMES = [...HOST_WIRES, 'decisions'] as const;
export type WireName = (typeof WIRE_NAMES)[number];
