import type { FinishEvent, FinishReason } from '../../canonical/events.ts';

const FINISH_OF_STOP: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  refusal: 'content_filter',
};

/** A stop after tool calls means `tool_calls`, whatever the host sent. */
export function readStopReason(raw: string, sawTools: boolean): FinishReason {
  const reason = Object.hasOwn(FINISH_OF_STOP, raw) ? FINISH_OF_STOP[raw]! : 'stop';
  return reason === 'stop' && sawTools ? 'tool_calls' : reason;
}

/** The members of a message that say how it ended, streamed or buffered. */
interface Ending {
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
  readonly stop_details: { type: 'refusal'; category: null; explanation: null } | null;
}

/** On other wires a refusal is text followed by `stop`; here it is a stop reason. */
export function writeEnding({ reason, stopSequence }: FinishEvent, refused: boolean): Ending {
  if (reason === 'content_filter' || (refused && reason === 'stop')) {
    const details = { type: 'refusal', category: null, explanation: null } as const;
    return { stop_reason: 'refusal', stop_sequence: null, stop_details: details };
  }
  if (reason === 'stop' && stopSequence !== null) {
    return { stop_reason: 'stop_sequence', stop_sequence: stopSequence, stop_details: null };
  }
  return { stop_reason: STOP_OF_FINISH[reason], stop_sequence: null, stop_details: null };
}

const STOP_OF_FINISH: Readonly<Record<Exclude<FinishReason, 'content_filter'>, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
};
