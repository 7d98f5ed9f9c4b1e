import type { Prompt, PromptTool } from './prompt.ts';

/**
 * The tools that the model calls without a script: those that `tool_choice` demands, or those that the last message asks
 * for by name. With nothing to call it answers in words.
 */
export function toolsToCall(prompt: Prompt): readonly PromptTool[] {
  const { tools, toolChoice } = prompt;
  if (tools.length === 0 || toolChoice === 'none') return [];
  if (typeof toolChoice === 'object') return tools.filter((tool) => tool.name === toolChoice.name).slice(0, 1);
  const named = namedTools(prompt);
  if (named.length > 0) return prompt.parallelTools ? named : named.slice(0, 1);
  if (toolChoice === 'auto') return [];
  return tools.slice(0, prompt.parallelTools ? 2 : 1);
}

/** A request comes at the end of a message; the text far before it is instructions, which name tools without asking for them. */
const ASKED_UNITS_MAX = 300;

function namedTools({ tools, messages }: Prompt): readonly PromptTool[] {
  const last = messages.at(-1);
  if (last?.role !== 'user') return [];
  const asked = withoutBlocks(last.text).trimEnd().slice(-ASKED_UNITS_MAX);
  return tools.filter((tool) => isAskedFor(tool.name, asked));
}

/** Agents put notes about their tools into the user's message, between tags like `<system-reminder>`. They ask for nothing. */
function withoutBlocks(text: string): string {
  const opening = /<([a-z][\w-]*)>/g;
  const neverClosed = new Set<string>();
  let kept = '';
  let from = 0;
  for (let tag = opening.exec(text); tag !== null; tag = opening.exec(text)) {
    const closing = `</${tag[1]}>`;
    const end = neverClosed.has(closing) ? -1 : text.indexOf(closing, tag.index);
    if (end === -1) {
      neverClosed.add(closing);
      continue;
    }
    kept += text.slice(from, tag.index);
    from = end + closing.length;
    opening.lastIndex = from;
  }
  return kept + text.slice(from);
}

/** Names like `get_weather` or `readFile`, which are not words of a sentence. */
const IDENTIFIER = /[^A-Za-z]|[a-z][A-Z]/;
/** A name that is also a word, like `read` or `task`, counts only after one of these. */
const REQUEST_BEFORE = /\b(?:call|use)\s+(?:the\s+)?(?:(?:tool|function)\s+)?["'`]?$/i;
const REQUEST_UNITS_MAX = 40;
const NAME_UNIT = /[\w-]/;

function isAskedFor(name: string, text: string): boolean {
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + 1)) {
    if (NAME_UNIT.test(text[at - 1] ?? '') || NAME_UNIT.test(text[at + name.length] ?? '')) continue;
    if (IDENTIFIER.test(name)) return true;
    if (REQUEST_BEFORE.test(text.slice(Math.max(0, at - REQUEST_UNITS_MAX), at))) return true;
  }
  return false;
}
