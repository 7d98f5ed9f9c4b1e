import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { GatewayError } from '../../src/canonical/errors.ts';
import type { WireName } from '../../src/canonical/wire-names.ts';
import type { Catalog } from '../../src/catalog/catalog.ts';
import type { CatalogModel } from '../../src/catalog/model.ts';
import { parseJson } from '../../src/json/json.ts';
import { DEFAULT_FRAMING } from '../../src/money/framing.ts';
import { agentRequest } from '../../test/agent-request.ts';
import { modelOf, wholeCatalog } from './families.ts';
import {
  boundsOf,
  type HeldBounds,
  heldOf,
  loadTokenizers,
  median,
  promptTokens,
  type Tokenizers,
} from './prompt-bounds.ts';

/** A prompt with the tokens that its host billed, or that its tokenizer makes of it. */
interface Sample extends HeldBounds {
  readonly family: string;
  readonly tokens: number;
  /** The bound by bytes that every model had before it had a framing of its own. */
  readonly before: number;
}

const ROOT = resolve(import.meta.dirname, '../..');
const CORPUS = resolve(ROOT, '../shared/corpus');
const LONG_TOKENS = 1_000;

/** Prints the bound per token by family, before and after counting. The result is 1 if a recorded prompt exceeds a bound. */
export async function writeReport(print: (line: string) => void): Promise<number> {
  const catalog = wholeCatalog(ROWS_OF_RECORDED_MODELS);
  const tokenizers = await loadTokenizers();
  const corpus = existsSync(CORPUS) ? readCorpus(catalog, tokenizers) : [];
  if (corpus.length === 0) print('../shared/corpus is not here, so recorded hosts are left out.');
  const agents = readAgents(catalog, tokenizers);
  print('                          prompts  tokens  before  bytes  counted   held   short');
  for (const [source, samples] of Object.entries({ recorded: corpus, agents })) {
    const families = Map.groupBy(samples, ({ family }) => family);
    for (const [family, own] of [...families].toSorted()) print(rowOf(`${source.padEnd(10)}${family}`, own));
    print(rowOf(`${source.padEnd(10)}all`, samples));
    const long = samples.filter(({ tokens }) => tokens >= LONG_TOKENS);
    print(rowOf(`${source.padEnd(10)}${LONG_TOKENS} and more`, long));
  }
  for (const line of LEGEND) print(line);
  return corpus.some(isShort) ? 1 : 0;
}

const LEGEND = [
  'The columns are medians of bound / tokens. before: by bytes, with the framing of unknown models. bytes, counted: both',
  'bounds. held: the one that the gateway holds, which counts only from 0.05 USD on. short: prompts above a bound.',
  'Tokens of recorded prompts are what the host billed. No bill is known for agents: theirs are those of o200k_base, and',
  'for anthropic and deepseek the least that the vendor adds for tools.',
];

interface Recorded {
  readonly wire: string;
  readonly model: string;
  readonly request?: string;
  readonly usage?: Readonly<Record<string, number>> | null;
}

const WIRE_OF: Readonly<Record<string, WireName>> = {
  'openai-chat': 'chat',
  'openai-responses': 'responses',
  'anthropic-messages': 'messages',
  'openai-completions': 'completions',
  'openai-embeddings': 'embeddings',
};

/** Recorded models that the catalog no longer lists, and the one that has their tokenizer and template. */
const SUCCESSORS: Readonly<Record<string, string>> = {
  'deepseek-reasoner': 'deepseek-v4-pro',
  'deepseek-v4-flash': 'deepseek-v4.1-flash',
  'llama3-8b-8192': 'llama-3.1-8b-instant',
  'gemini-2.5-pro-preview-05-06': 'gemini-2.5-pro',
  'gpt-oss:120b': 'gpt-oss-120b',
  'claude-3-5-sonnet-20240620': 'claude-sonnet-4-5',
  'claude-3-7-sonnet-20250219': 'claude-sonnet-4-5',
  'minimax/minimax-m2:free': 'minimax-m3',
};

/** Recorded models as an operator would add them, without a framing of their own. */
const ROWS_OF_RECORDED_MODELS = [
  { id: 'sonar', vendor: 'perplexity', caps: ['chat' as const] },
  { id: 'babbage-002', vendor: 'openai', caps: ['completions' as const] },
  { id: 'gpt-3.5-turbo-instruct', vendor: 'openai', caps: ['completions' as const] },
].map((row) => ({
  ...row,
  context_window: 16_384,
  price: { input: 1_000_000_000, output: 1_000_000_000 },
  hosts: [{ host: 'openai', model: row.id }],
}));

function readCorpus(catalog: Catalog, tokenizers: Tokenizers): Sample[] {
  const { items } = parseJson(readFileSync(join(CORPUS, 'index.json'), 'utf8')) as { items: Recorded[] };
  return items.flatMap((item) => {
    const wire = WIRE_OF[item.wire];
    if (wire === undefined || item.request === undefined || !item.usage) return [];
    const tokens = billedTokens(item.usage);
    const model = modelOf(catalog, SUCCESSORS[item.model] ?? item.model);
    if (tokens === 0) return [];
    if (model === null) throw new Error(`The report needs a row for the recorded model ${item.model}.`);
    try {
      return [sampleOf({ wire, body: readFileSync(join(CORPUS, item.request)), model, tokens, tokenizers })];
    } catch (error) {
      // A request that the gateway refuses is never held.
      if (error instanceof GatewayError) return [];
      throw error;
    }
  });
}

function billedTokens(usage: Readonly<Record<string, number>>): number {
  const cached = (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0);
  return (usage.prompt_tokens ?? usage.input_tokens ?? 0) + cached;
}

interface Prompt {
  readonly wire: WireName;
  readonly body: Buffer;
  readonly model: CatalogModel;
  readonly tokens: number;
  readonly tokenizers: Tokenizers;
}

function sampleOf({ wire, body, model, tokens, tokenizers }: Prompt): Sample {
  const unframed = { ...model, framing: DEFAULT_FRAMING };
  return {
    family: model.vendor,
    tokens,
    before: boundsOf(wire, body, unframed, tokenizers).byBytes,
    ...heldOf(wire, body, model, tokenizers),
  };
}

/** The smallest tool prompt that the vendor documents for its models, or that a recording shows. */
const LEAST_TOOL_PROMPT: Readonly<Record<string, number>> = { anthropic: 286, deepseek: 263 };

/** What agents sent, as o200k_base counts it; no host's bill is known for them. */
function readAgents(catalog: Catalog, tokenizers: Tokenizers): Sample[] {
  const folder = join(ROOT, 'fixtures/agents');
  const seen = readdirSync(folder).flatMap((file) => {
    const { requests } = parseJson(readFileSync(join(folder, file), 'utf8')) as {
      requests: { path: string; body: Record<string, unknown> }[];
    };
    return requests;
  });
  const own = [1, 5, 14, 40].map((turns) => ({ path: '/v1/messages', body: agentRequest('m', turns) }));
  return [...seen, ...own].flatMap(({ path, body: request }) => {
    const wire: WireName = path.startsWith('/v1/messages')
      ? 'messages'
      : path.endsWith('/responses')
        ? 'responses'
        : 'chat';
    const body = Buffer.from(JSON.stringify(request));
    const hasTools = Array.isArray(request.tools) && request.tools.length > 0;
    return ['gpt-5.1', 'claude-sonnet-5-5', 'gemini-2.5-pro', 'deepseek-v4-pro'].map((id) => {
      const model = modelOf(catalog, id)!;
      const added = hasTools ? (LEAST_TOOL_PROMPT[model.vendor] ?? 0) : 0;
      const tokens = promptTokens(wire, body, tokenizers.o200k_base) + added;
      return sampleOf({ wire, body, model, tokens, tokenizers });
    });
  });
}

function rowOf(name: string, samples: readonly Sample[]): string {
  const ratio = (read: (sample: Sample) => number): string =>
    median(samples.map((one) => read(one) / one.tokens)).toFixed(1);
  return [
    name.padEnd(26),
    String(samples.length).padStart(7),
    String(median(samples.map(({ tokens }) => tokens))).padStart(8),
    ratio(({ before }) => before).padStart(8),
    ratio(({ byBytes }) => byBytes).padStart(7),
    ratio(({ counted }) => counted).padStart(9),
    ratio(({ held }) => held).padStart(7),
    String(samples.filter(isShort).length).padStart(8),
  ].join('');
}

function isShort({ tokens, byBytes, counted }: Sample): boolean {
  return tokens > counted || tokens > byBytes;
}
