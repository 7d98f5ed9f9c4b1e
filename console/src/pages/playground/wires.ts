import type { Model } from '../../api/generated/routes.ts';
import { chatWire } from './chat-wire.ts';
import { messagesWire } from './messages-wire.ts';
import { responsesWire } from './responses-wire.ts';
import type { FunctionTool, Wire, WireName } from './wire.ts';

const WIRES: Readonly<Record<WireName, Wire>> = { chat: chatWire, messages: messagesWire, responses: responsesWire };

export const WIRE_CHOICES = [
  { value: 'auto', label: 'the model’s own' },
  ...Object.values(WIRES).map(({ name, path }) => ({ value: name as string, label: path })),
];

/** The route that was chosen, or the one that the model's vendor has made for it. */
export function wireFor(chosen: string | undefined, model: Model | undefined): Wire {
  if (chosen !== undefined && chosen in WIRES) return WIRES[chosen as WireName];
  return model?.caps.includes('messages') === true ? messagesWire : chatWire;
}

/** Tools as the vendors write them, in a list: `{"name", "description", "parameters"}`, or with the function inside. */
export function parseTools(text: string): readonly FunctionTool[] | string {
  if (text.trim() === '') return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'This is not valid JSON.';
  }
  const list = Array.isArray(value) ? value : [value];
  const tools: FunctionTool[] = [];
  for (const item of list) {
    const tool = toolOf(item);
    if (tool === null) return 'Each tool needs a “name”, and “parameters” with a JSON schema.';
    tools.push(tool);
  }
  return tools;
}

function toolOf(value: unknown): FunctionTool | null {
  if (typeof value !== 'object' || value === null) return null;
  const outer = value as Readonly<Record<string, unknown>>;
  const given = (typeof outer.function === 'object' && outer.function !== null ? outer.function : outer) as Readonly<
    Record<string, unknown>
  >;
  const { name, description } = given;
  if (typeof name !== 'string' || name === '') return null;
  return {
    name,
    ...(typeof description === 'string' ? { description } : {}),
    parameters: given.parameters ?? given.input_schema ?? { type: 'object', properties: {} },
  };
}
