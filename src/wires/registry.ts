import type { WireName } from '../canonical/wire-names.ts';
import { chat } from './chat/index.ts';
import { completions } from './completions/index.ts';
import { decisions } from './decisions/index.ts';
import { embeddings } from './embeddings/index.ts';
import { messages } from './messages/index.ts';
import { responses } from './responses/index.ts';
import { systemone } from './systemone/index.ts';
import type { Wire } from './wire.ts';

/** Every wire, by the name used in host rows and routes. */
export const WIRES: Readonly<Record<WireName, Wire>> = {
  chat,
  messages,
  responses,
  completions,
  embeddings,
  systemone,
  decisions,
};
