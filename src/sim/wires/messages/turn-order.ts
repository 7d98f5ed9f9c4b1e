import { reject } from './errors.ts';
import type { Turn } from './turns.ts';

/** Every tool call needs its result in the next turn, and every result its call in the previous one. Turns of one role are merged. */
export function checkToolTurns(turns: readonly Turn[]): void {
  const joined = joinTurns(turns);
  for (const [index, turn] of joined.entries()) {
    const answered = joined[index + 1]?.results.map((result) => result.toolCallId) ?? [];
    const missing = turn.calls.filter((call) => !answered.includes(call.id)).map((call) => call.id);
    if (missing.length > 0) {
      reject(
        `${turn.path}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}. ` +
          'Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
      );
    }
    const called = joined[index - 1]?.calls.map((call) => call.id) ?? [];
    const stranger = turn.results.find((result) => !called.includes(result.toolCallId ?? ''));
    if (stranger !== undefined) {
      reject(
        `${turn.path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stranger.toolCallId}. ` +
          'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
      );
    }
  }
}

/** With a reasoning budget, the turn whose tools are being answered must begin with its reasoning. */
export function checkThoughtsCameBack(turns: readonly Turn[]): void {
  const asking = turns.findLastIndex((turn) => turn.calls.length > 0);
  const answered = turns.slice(asking + 1).every((turn) => turn.results.length > 0);
  const turn = turns[asking];
  if (turn === undefined || !answered || turn.types[0]!.endsWith('thinking')) return;
  reject(
    `${turn.path}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${turn.types[0]}\`. ` +
      'When `thinking` is enabled, a final `assistant` message must start with a thinking block ' +
      '(preceeding the lastmost set of `tool_use` and `tool_result` blocks).',
  );
}

function joinTurns(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = [];
  for (const turn of turns) {
    const last = joined.at(-1);
    if (last?.role !== turn.role) joined.push(turn);
    else {
      joined[joined.length - 1] = {
        ...last,
        calls: [...last.calls, ...turn.calls],
        results: [...last.results, ...turn.results],
      };
    }
  }
  return joined;
}
