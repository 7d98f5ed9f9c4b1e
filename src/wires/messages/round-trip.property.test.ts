import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyBody, normalBody } from '../../../test/messages-arbitraries.ts';
import { peekAt, textOf } from '../../../test/messages-request.ts';
import type { CanonicalRequest } from '../../canonical/request.ts';
import type { HubRequestTerms } from '../hub.ts';
import { readRequest } from './read-request.ts';
import { writeRequest } from './write-request.ts';

/**
 * Normal form of a request on this wire: roles alternate, tool results come first in their turn, instructions come
 * before everything else; no two tool calls have one id; there is no blank text, no unsigned or foreign reasoning, no explicit default, and schemas
 * have only what hosts accept. One translation to the canonical form and back reaches it, and a second one changes
 * nothing.
 */
const TERMS: HubRequestTerms = {
  hostModel: 'claude-harbour',
  stream: false,
  outputLimit: 4096,
  outputLimitField: 'max_tokens',
  reasoningEffort: null,
  thinking: null,
};

function read(body: string): CanonicalRequest {
  return readRequest(textOf(body), peekAt(body));
}

function again(request: CanonicalRequest, terms: HubRequestTerms = TERMS): CanonicalRequest {
  return read(writeRequest(request, terms).toString());
}

/** How many requests had each hard case of a round trip; with few of them the property would show little. */
class Shares {
  #requests = 0;
  readonly #counts = new Map<string, number>();

  note(request: CanonicalRequest): void {
    this.#requests++;
    const blocks = request.messages.flatMap((message) => message.blocks);
    const parallel = request.messages.some(
      ({ blocks: own }) => own.filter(({ kind }) => kind === 'tool-call').length > 1,
    );
    this.#count('parallel calls', parallel);
    this.#count(
      'signatures',
      blocks.some((block) => block.kind === 'reasoning' && block.opaque?.form === 'signature'),
    );
    this.#count(
      'images',
      blocks.some(({ kind }) => kind === 'image'),
    );
    this.#count(
      'cache marks',
      blocks.some((block) => 'cache' in block),
    );
  }

  #count(what: string, holds: boolean): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + Number(holds));
  }

  expectAtLeast(share: number): void {
    for (const [what, count] of this.#counts) expect(count / this.#requests, what).toBeGreaterThan(share);
  }
}

test('a request in normal form comes back from the canonical form as it went', () => {
  const shares = new Shares();
  fc.assert(
    fc.property(normalBody, (body) => {
      const request = read(body);
      shares.note(request);
      expect(again(request)).toEqual(request);
    }),
    { numRuns: 150 },
  );
  shares.expectAtLeast(0.1);
});

test('any other request reaches normal form in one pass, and stays there', () => {
  fc.assert(
    fc.property(anyBody, (body) => {
      const normal = again(read(body));
      expect(again(normal)).toEqual(normal);
    }),
    { numRuns: 150 },
  );
});

test.each<[string, object, Partial<HubRequestTerms>]>([
  [
    'a budget',
    { thinking: { type: 'enabled', budget_tokens: 2000 } },
    { thinking: 'budget', reasoningEffort: 'medium' },
  ],
  [
    'a word',
    { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } },
    { thinking: 'effort', reasoningEffort: 'max' },
  ],
  ['no thinking', { thinking: { type: 'disabled' } }, { thinking: 'effort', reasoningEffort: 'none' }],
])('reasoning by %s comes back as it went', (_what, fields, terms) => {
  const body = { model: 'm', max_tokens: 4096, messages: [{ role: 'user', content: 'x' }], ...fields };
  const request = read(JSON.stringify(body));
  expect(again(request, { ...TERMS, ...terms })).toEqual(request);
});
