import { parentPort } from 'node:worker_threads';
import { CL100K_TOKEN_SPLIT_REGEX, O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants';
import { LIMITS } from '../limits.ts';
import type { Encoding } from './encoding.ts';

export interface CountRequest {
  readonly id: number;
  readonly encoding: Encoding;
  readonly texts: readonly string[];
}

export interface CountAnswer {
  readonly id: number;
  /** Null if no exact count was possible. */
  readonly tokens: number | null;
}

const ENCODINGS = {
  o200k_base: { pieces: O200K_TOKEN_SPLIT_REGEX, load: () => import('gpt-tokenizer/encoding/o200k_base') },
  cl100k_base: { pieces: CL100K_TOKEN_SPLIT_REGEX, load: () => import('gpt-tokenizer/encoding/cl100k_base') },
};

/** Hosts treat such names in a caller's text as plain text, and so does the count. */
const SPECIAL_TOKENS_ARE_TEXT = { disallowedSpecial: new Set<string>() };

parentPort?.on('message', (request: CountRequest) => {
  countAll(request).then(
    (tokens) => answer({ id: request.id, tokens }),
    () => answer({ id: request.id, tokens: null }),
  );
});

function answer(message: CountAnswer): void {
  parentPort?.postMessage(message);
}

async function countAll({ encoding, texts }: CountRequest): Promise<number | null> {
  const { pieces, load } = ENCODINGS[encoding];
  if (!texts.every((text) => hasShortPieces(text, pieces))) return null;
  const { countTokens } = await load();
  return texts.reduce((sum, text) => sum + countTokens(text, SPECIAL_TOKENS_ARE_TEXT), 0);
}

/** Merging takes time quadratic in the length of a piece; a long one would block the thread for seconds. */
function hasShortPieces(text: string, pieces: RegExp): boolean {
  for (const [piece] of text.matchAll(pieces)) {
    if (piece.length > LIMITS.tokenCountPieceCharsMax) return false;
  }
  return true;
}
