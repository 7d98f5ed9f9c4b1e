import type { PromptTexts } from '../canonical/prompt-size.ts';
import type { WireName } from '../canonical/wire-names.ts';
import type { JsonText } from '../json/json.ts';
import { texts as chat } from './chat/peek.ts';
import { texts as completions } from './completions/peek.ts';
import { texts as embeddings } from './embeddings/peek.ts';
import { decisionSubject, decisionTexts } from './fields/typed-decision.ts';
import { texts as messages } from './messages/peek.ts';
import { texts as responses } from './responses/peek.ts';

/** Apart from the registry, so that the counting thread does not load the other two thirds of the wires' code. */
const TEXTS: Readonly<Record<WireName, (text: JsonText) => PromptTexts>> = {
  chat,
  messages,
  responses,
  completions,
  embeddings,
  systemone: decisionTexts,
  decisions: decisionTexts,
};

/** The texts of a prompt that a model reads whatever its host makes of the request, for a lower bound on its tokens. */
export function textsRead(wire: WireName, text: JsonText): readonly string[] {
  return wire === 'systemone' || wire === 'decisions' ? decisionSubject(text) : promptTexts(wire, text).texts;
}

/** The texts of a prompt that `peek` of the wire accepted, for a token count. */
export function promptTexts(wire: WireName, text: JsonText): PromptTexts {
  return TEXTS[wire](text);
}
