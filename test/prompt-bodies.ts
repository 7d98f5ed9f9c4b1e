import fc from 'fast-check';
import type { CanonicalRequest } from '../src/canonical/request.ts';
import type { WireName } from '../src/canonical/wire-names.ts';
import { WIRES } from '../src/wires/registry.ts';
import { anyCharacter } from './any-character.ts';
import { anyBody } from './messages-arbitraries.ts';
import { canonicalRequests } from './responses-arbitraries.ts';

/** Request bodies of every wire, in several spellings of the same JSON. */

const words = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 40 }).filter((text) => text.isWellFormed()),
  fc.constantFrom('plain words', 'Größe', '数を数える', 'emoji 👩‍👩‍👧', '{"a":"\\u00e9"}', 'ﷺﷺ', '12345', ' \n\t'),
  // Long enough to be remembered.
  fc.constantFrom(
    'A sentence that the counter remembers. '.repeat(3),
    'Ein Satz für später, länger als die Übrigen. '.repeat(2),
  ),
);
const filled = words.filter((text) => text !== '');
const inputs = fc.oneof(
  filled,
  fc.array(filled, { minLength: 1, maxLength: 4 }),
  fc.array(fc.nat(100_000), { minLength: 1, maxLength: 4 }),
  fc.array(fc.array(fc.nat(100_000), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
);
/** A host may read unknown fields with the prompt. */
const unknown = fc.record({ instruction_for_all: words, own: fc.record({ deep: words }) }, { requiredKeys: [] });
const format = fc
  .record({ name: filled, description: words })
  .map((schema) => ({ type: 'json_schema', json_schema: { ...schema, schema: { type: 'object' } } }));

const completions = fc
  .tuple(
    fc.record(
      { model: fc.constant('m'), prompt: inputs, suffix: words, response_format: fc.oneof(format, fc.constant(null)) },
      { requiredKeys: ['model', 'prompt'] },
    ),
    unknown,
  )
  .map(([body, more]) => JSON.stringify({ ...body, ...more }));

const embeddings = fc
  .tuple(fc.record({ model: fc.constant('m'), input: inputs }), unknown)
  .map(([body, more]) => JSON.stringify({ ...body, ...more }));

const systemone = fc
  .record({ state: fc.oneof(words, fc.dictionary(words, words)), instructions: words })
  .map(({ state, instructions }) =>
    JSON.stringify({ model: 'm', state, questions: { sure: { type: 'noul', instructions } } }),
  );

const decisions = fc
  .record({ input: words, instructions: words })
  .map(({ input, instructions }) =>
    JSON.stringify({ model: 'm', input, questions: [{ type: 'predicate', name: 'sure', instructions }] }),
  );

/** A custom tool and a namespace, which hosts get with more text than the caller wrote. */
const NAMED_TOOLS = [
  { type: 'custom', name: 'patch', description: 'Ändert eine Datei.' },
  { type: 'namespace', name: 'größe', tools: [{ type: 'function', name: 'measure', parameters: {} }] },
];

function written(wire: 'chat' | 'responses'): fc.Arbitrary<string> {
  const requests = wire === 'chat' ? canonicalRequests.map(withTextResults) : canonicalRequests;
  return fc.tuple(requests, unknown, fc.boolean()).map(([request, more, hasNamedTools]) => {
    const body = JSON.parse(writeRequest(wire, request).toString());
    const tools = wire === 'responses' && hasNamedTools ? { tools: [...(body.tools ?? []), ...NAMED_TOOLS] } : {};
    return JSON.stringify({ ...body, ...more, ...tools });
  });
}

/** The results of tools without their images, which the chat wire cannot carry. */
function withTextResults(request: CanonicalRequest): CanonicalRequest {
  const messages = request.messages.map(({ role, blocks }) => ({
    role,
    blocks: blocks.map((block) =>
      block.kind === 'tool-result' ? { ...block, content: block.content.filter(({ kind }) => kind === 'text') } : block,
    ),
  }));
  return { ...request, messages };
}

function writeRequest(wire: 'chat' | 'responses', request: CanonicalRequest): Buffer {
  return WIRES[wire].hub!.upstream!.writeRequest(request, {
    hostModel: 'm',
    stream: false,
    outputLimit: 100,
    outputLimitField: wire === 'chat' ? 'max_tokens' : 'max_output_tokens',
    reasoningEffort: null,
    thinking: null,
  });
}

const BODIES: Readonly<Record<WireName, fc.Arbitrary<string>>> = {
  chat: written('chat'),
  messages: anyBody,
  responses: written('responses'),
  completions,
  embeddings,
  systemone,
  decisions,
};

const SPELLINGS: readonly ((json: string) => string)[] = [
  (json) => json,
  (json) => ` ${json}\n`,
  (json) => json.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  (json) => json.replaceAll('"content":', '"\\u0063ontent":').replaceAll('"prompt":', '"prom\\u0070t":'),
];

/** Bodies of a wire that it accepts. */
export function promptBodies(wire: WireName): fc.Arbitrary<Buffer> {
  return fc.tuple(BODIES[wire], fc.constantFrom(...SPELLINGS)).map(([json, spell]) => Buffer.from(spell(json)));
}
