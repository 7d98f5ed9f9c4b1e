import { splitTokens } from '../../tokens.ts';

/** The vendor's log probabilities for a stretch of text, made up but well formed; `null` when they were not asked for. */
export function writeLogprobs(text: string | null, asked: boolean): string {
  if (!asked || text === null) return 'null';
  const content = splitTokens(text, 1).map((token) => writeToken(token.text));
  return `{"content":[${content.join(',')}],"refusal":null}`;
}

function writeToken(token: string): string {
  const bytes = [...Buffer.from(token)].join(',');
  return `{"token":${JSON.stringify(token)},"logprob":${-token.length / 8},"bytes":[${bytes}],"top_logprobs":[]}`;
}
