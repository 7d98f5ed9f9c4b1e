import type { Prompt } from './prompt.ts';
import type { ScriptedCall, SimScript } from './script.ts';

/** What a script makes the model say in one turn: a text or tool calls. */
export type ScriptedAnswer = { readonly text: string } | { readonly calls: readonly ScriptedCall[] };

/** The answer that `calls` or `turns` give; null if neither applies, so that the model answers as it would without them. */
export function scriptedTurn(prompt: Prompt, script: SimScript): ScriptedAnswer | null {
  if (script.calls !== undefined) return offered(prompt, { calls: script.calls });
  if (script.turns === undefined) return null;
  const turn = script.turns[turnsSince(prompt, script.turnsAfter)];
  if (turn === undefined) return null;
  return turn.calls === undefined ? { text: turn.text ?? '' } : offered(prompt, { calls: turn.calls });
}

/** A model cannot call a tool that the request does not offer: agents also ask for titles and summaries, without tools. */
function offered(prompt: Prompt, answer: { readonly calls: readonly ScriptedCall[] }): ScriptedAnswer | null {
  if (prompt.toolChoice === 'none') return null;
  const names = new Set(prompt.tools.map((tool) => tool.name));
  return answer.calls.every((call) => names.has(call.name)) ? answer : null;
}

/**
 * How many turns the model has had since the first user message with this text; -1 if there is none. Several assistant
 * messages in a row are one turn, because some wires send every tool call as a message of its own.
 */
function turnsSince({ messages }: Prompt, text: string | undefined): number {
  const start = text === undefined ? 0 : messages.findIndex((one) => one.role === 'user' && one.text.includes(text));
  if (start === -1) return -1;
  let turns = 0;
  for (let index = start; index < messages.length; index++) {
    if (messages[index]!.role === 'assistant' && messages[index - 1]?.role !== 'assistant') turns++;
  }
  return turns;
}
