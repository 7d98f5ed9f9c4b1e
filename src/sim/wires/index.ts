import type { SimWire } from '../reply.ts';
import { chatWire } from './chat/index.ts';
import { countTokensWire, messagesWire } from './messages/index.ts';
import { responsesWire } from './responses/index.ts';

/** Every wire the simulator speaks, by path. */
export const WIRES: ReadonlyMap<string, SimWire> = new Map(
  [chatWire, messagesWire, countTokensWire, responsesWire].map((wire) => [wire.path, wire]),
);

/** Errors outside any wire, an unknown path for example, take the chat wire's shape. */
export const plainWire: SimWire = chatWire;
