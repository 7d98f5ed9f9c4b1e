import type { SimWire } from '../reply.ts';
import { chatWire } from './chat/index.ts';
import { completionsWire } from './completions/index.ts';
import { decisionsWire } from './decisions/decisions.ts';
import { systemOneWire } from './decisions/systemone.ts';
import { embeddingsWire } from './embeddings/index.ts';
import { countTokensWire, messagesWire } from './messages/index.ts';
import { inputTokensWire, responsesWire } from './responses/index.ts';

const ALL = [
  chatWire,
  messagesWire,
  countTokensWire,
  responsesWire,
  inputTokensWire,
  completionsWire,
  embeddingsWire,
  systemOneWire,
  decisionsWire,
];

/** Every wire the simulator speaks, by path. */
export const WIRES: ReadonlyMap<string, SimWire> = new Map(ALL.map((wire) => [wire.path, wire]));

/** Errors outside any wire, like an unknown path, have the chat wire's format. */
export const plainWire: SimWire = chatWire;
