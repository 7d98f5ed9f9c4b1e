import { splitTokens } from '../../tokens.ts';

/** Log probabilities for a piece of text: invented but well formed. `null` if they were not requested. */
export function writeLogprobs(text: string | null, asked: boolean): string {
  if (!asked || text === null) return 'null';
  const content = splitTokens(text, 1).map((token) => writeToken(token.text));
  return `{"content":[${content.join(',')}],"refusal":null}`;
}

function writeToken(token: string): string {
  const bytes = [...Buffer.from(token)].join(',');
  return `{"token":${JSON.stringify(token)},"logprob":${-token.length / 8},"bytes":[${bytes}],"top_logprobs":[]}`;
}
