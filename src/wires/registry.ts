import { chat } from './chat/index.ts';
import { messages } from './messages/index.ts';
import type { Wire } from './wire.ts';

/** Every wire, by the name that host rows and routes use. */
export const WIRES: Readonly<Record<string, Wire>> = { chat, messages };
