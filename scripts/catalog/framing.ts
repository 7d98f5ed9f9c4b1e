import type { ModelRow } from '../../src/catalog/schema.ts';

type FramingRow = NonNullable<ModelRow['framing']>;

/**
 * What the hosts of a vendor's models add to a prompt. Vendors that are not here get the default. Figures are about twice
 * what templates, recordings or the vendor's documentation show; docs/holds.md has the comparison.
 */
const FRAMINGS: Readonly<Record<string, FramingRow>> = {
  openai: {
    ...{ prompt: 8, message: 8, part: 16, tool: 16, tools: 48 },
    source: 'recordings: 6 tokens for a prompt of one message; the vendor publishes 3 per message and 3 per answer',
  },
  anthropic: {
    ...{ prompt: 64, message: 16, part: 32, tool: 32, tools: 1024 },
    source: 'recordings: 8 tokens, 40 with thinking; the vendor publishes up to 804 for tools',
  },
  google: {
    ...{ prompt: 32, message: 12, part: 16, tool: 32, tools: 64 },
    source:
      'the template of gemma3 (npm run campaign:holds -- --framing); a recording with a tool has half the tokens of its text',
  },
  deepseek: {
    ...{ prompt: 256, message: 12, part: 48, tool: 32, tools: 512 },
    source: 'recordings: 5 tokens, and 263 for tools; the template may add an instruction about effort',
  },
  meta: {
    ...{ prompt: 64, message: 12, part: 32, tool: 64, tools: 256 },
    source: 'the template of llama3_2 (npm run campaign:holds -- --framing)',
  },
  mistral: {
    ...{ prompt: 16, message: 12, part: 32, tool: 32, tools: 64 },
    source: 'recordings: 3 tokens; the template of mistral_nemo (npm run campaign:holds -- --framing)',
  },
  qwen: {
    ...{ prompt: 64, message: 12, part: 32, tool: 32, tools: 512 },
    source: 'the templates of qwen2_5 and qwen3 (npm run campaign:holds -- --framing)',
  },
};

/** Models of one vendor with another template than the others. */
const OWN_FRAMINGS: Readonly<Record<string, FramingRow>> = Object.fromEntries(
  ['gpt-oss-20b', 'gpt-oss-120b'].map((id) => [
    id,
    {
      ...{ prompt: 144, message: 16, part: 32, tool: 32, tools: 64 },
      source: 'recordings: 71 tokens, for the system message of the template',
    },
  ]),
);

/** An embedding model has no template. */
const OPENAI_EMBEDDINGS: FramingRow = {
  ...{ prompt: 4, message: 4, part: 0, tool: 0, tools: 0 },
  source: 'recordings: nothing is added',
};

export function framingOf(id: string, vendor: string, isEmbedding: boolean): Pick<ModelRow, 'framing'> {
  if (isEmbedding) return vendor === 'openai' ? { framing: OPENAI_EMBEDDINGS } : {};
  const framing = OWN_FRAMINGS[id] ?? FRAMINGS[vendor];
  return framing === undefined ? {} : { framing };
}
