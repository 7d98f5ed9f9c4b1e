import { tryParseJson } from '../../../json/json.ts';
import { CALL_OPENING_TOKENS, type Choice, type ToolCall } from '../../answer.ts';
import { NOTHING_SPENT, type Spent } from '../../frame-list.ts';
import type { SimHost } from '../../reply.ts';
import type { SimScript } from '../../script.ts';
import { splitTokens } from '../../tokens.ts';
import type { MessagesRequest } from './request.ts';
import { redactThought, signThought } from './thinking.ts';

/** One content block: whole for a message, in pieces for a stream. */
export interface ContentBlock {
  readonly whole: object;
  readonly opening: object;
  readonly openingTakes: Spent;
  readonly pieces: (tokensPerPiece: number) => ContentPiece[];
}

interface ContentPiece {
  readonly delta: object;
  readonly takes: Spent;
}

export function composeContent(
  choice: Choice,
  request: MessagesRequest,
  script: SimScript,
  host: SimHost,
): ContentBlock[] {
  const blocks: ContentBlock[] = [];
  if (choice.reasoning !== '') blocks.push(thoughtBlock(choice, request, script));
  // A refusal is in the stop reason; the content stays empty.
  if (choice.text !== null && choice.text !== '' && !choice.refused) blocks.push(textBlock(choice.text));
  for (const call of choice.calls) blocks.push(callBlock(call, host));
  return blocks;
}

function thoughtBlock(
  { reasoning, reasoningTokens }: Choice,
  request: MessagesRequest,
  script: SimScript,
): ContentBlock {
  const { model } = request.prompt;
  const takes = { outputTokens: reasoningTokens, reasoningTokens };
  if (script.redactThinking) {
    const whole = { type: 'redacted_thinking', data: redactThought(model, reasoning) };
    return { whole, opening: whole, openingTakes: takes, pieces: () => [] };
  }
  const { shown } = request.thinking;
  const thinking = shown ? reasoning : '';
  const signature = signThought(model, reasoning, thinking);
  return {
    whole: { type: 'thinking', thinking, signature },
    opening: { type: 'thinking', thinking: '', signature: '' },
    openingTakes: shown ? NOTHING_SPENT : takes,
    pieces: (perPiece) => [
      ...splitTokens(thinking, perPiece).map(({ text, tokens }) => ({
        delta: { type: 'thinking_delta', thinking: text },
        takes: { outputTokens: tokens, reasoningTokens: tokens },
      })),
      { delta: { type: 'signature_delta', signature }, takes: NOTHING_SPENT },
    ],
  };
}

function textBlock(said: string): ContentBlock {
  return {
    whole: { type: 'text', text: said },
    opening: { type: 'text', text: '' },
    openingTakes: NOTHING_SPENT,
    pieces: (perPiece) =>
      splitTokens(said, perPiece).map(({ text, tokens }) => ({
        delta: { type: 'text_delta', text },
        takes: { outputTokens: tokens, reasoningTokens: 0 },
      })),
  };
}

const NO_ARGUMENTS = '{}';

function callBlock(call: ToolCall, host: SimHost): ContentBlock {
  const named = { type: 'tool_use', id: host.mintId('toolu_'), name: call.name };
  return {
    // Arguments cut by a limit are not valid JSON, and a whole message has no place for a fragment.
    whole: { ...named, input: tryParseJson(call.arguments) ?? {}, caller: { type: 'direct' } },
    opening: { ...named, input: {}, caller: { type: 'direct' } },
    openingTakes: { outputTokens: CALL_OPENING_TOKENS, reasoningTokens: 0 },
    pieces: (perPiece) => argumentPieces(call.arguments, perPiece),
  };
}

/** The first piece is always empty, and a call without arguments has no other. */
function argumentPieces(args: string, perPiece: number): ContentPiece[] {
  const pieces = splitTokens(args, perPiece);
  const total = { outputTokens: pieces.reduce((sum, piece) => sum + piece.tokens, 0), reasoningTokens: 0 };
  if (args === NO_ARGUMENTS) return [{ delta: { type: 'input_json_delta', partial_json: '' }, takes: total }];
  return [
    { delta: { type: 'input_json_delta', partial_json: '' }, takes: NOTHING_SPENT },
    ...pieces.map(({ text, tokens }) => ({
      delta: { type: 'input_json_delta', partial_json: text },
      takes: { outputTokens: tokens, reasoningTokens: 0 },
    })),
  ];
}
