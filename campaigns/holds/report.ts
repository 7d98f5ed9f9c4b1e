import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { PromptSize } from '../../src/canonical/prompt-size.ts';
import type { WireName } from '../../src/canonical/wire-names.ts';
import { buildCatalog, type Catalog } from '../../src/catalog/catalog.ts';
import { loadCatalogFile } from '../../src/catalog/load.ts';
import type { CatalogModel } from '../../src/catalog/model.ts';
import { readBody } from '../../src/gateway/read-call.ts';
import { parseJson } from '../../src/json/json.ts';
import { boundCountedTokens, boundInputTokens } from '../../src/money/bound-tokens.ts';
import { countPrompt } from '../../src/money/counted-bound.ts';
import { type KnownTokenizer, measureExactly, measureRuns, toolRenderings } from '../../src/money/measure-text.ts';
import { WIRES } from '../../src/wires/registry.ts';
import { agentRequest } from '../../test/agent-request.ts';
import { cl100k, finish, o200k } from './quality.ts';

/** A prompt with the tokens that its host billed, or that its tokenizer makes of it. */
interface Sample {
  readonly source: string;
  readonly family: string;
  readonly tokens: number;
  readonly byBytes: number;
  readonly counted: number;
}

const ROOT = resolve(import.meta.dirname, '../..');
const CORPUS = resolve(ROOT, '../shared/corpus');
/** Below this the fixed allowance for what hosts add is most of the bound, and the hold is less than a cent. */
const LONG_TOKENS = 1_000;

/** Prints the bound per token by family, before and after counting. The result is 1 if a recorded prompt exceeds its bound. */
export async function writeReport(print: (line: string) => void): Promise<number> {
  const files = loadCatalogFile().models;
  const hosts = new Set(files.flatMap((model) => model.hosts.map(({ host }) => host)));
  const catalog = buildCatalog({ rows: files, hosts, version: '2026-01-01-x' });
  const tokenizers = { o200k_base: await o200k(), cl100k_base: await cl100k() };
  const corpus = existsSync(CORPUS) ? readCorpus(catalog, tokenizers) : [];
  if (corpus.length === 0) print('../shared/corpus is not here, so recorded hosts are left out.');
  const agents = readAgents(catalog, tokenizers);
  print('source    family          prompts   tokens   bytes/tokens   counted/tokens   short');
  const groups = Map.groupBy(
    [...corpus, ...agents],
    ({ source, family }) => `${source.padEnd(10)}${family.padEnd(16)}`,
  );
  for (const [name, samples] of [...groups].toSorted()) print(rowOf(name, samples));
  for (const [name, samples] of [
    ['all recorded', corpus],
    [`recorded from ${LONG_TOKENS} tokens`, corpus.filter(({ tokens }) => tokens >= LONG_TOKENS)],
    ['agents', agents],
    [`agents from ${LONG_TOKENS} tokens`, agents.filter(({ tokens }) => tokens >= LONG_TOKENS)],
  ] as const) {
    print(rowOf(name.padEnd(26), samples));
  }
  print(
    'Tokens of recorded prompts are what the host billed. No bill is known for agents: their tokens are those of o200k_base.',
  );
  return corpus.some(({ tokens, counted }) => tokens > counted) ? 1 : 0;
}

type Tokenizers = Readonly<Record<'o200k_base' | 'cl100k_base', KnownTokenizer>>;

interface Recorded {
  readonly wire: string;
  readonly model: string;
  readonly provider: string;
  readonly status: number;
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

function readCorpus(catalog: Catalog, tokenizers: Tokenizers): Sample[] {
  const { items } = parseJson(readFileSync(join(CORPUS, 'index.json'), 'utf8')) as { items: Recorded[] };
  return items.flatMap((item) => {
    const wire = WIRE_OF[item.wire];
    if (wire === undefined || item.request === undefined || !item.usage) return [];
    const tokens = billedTokens(item.usage);
    if (tokens === 0) return [];
    const model = modelOf(catalog, item.model);
    try {
      const bounds = boundsOf(wire, readFileSync(join(CORPUS, item.request)), model, tokenizers);
      return [{ source: 'recorded', family: model?.vendor ?? item.provider, tokens, ...bounds }];
    } catch {
      // A request that the gateway refuses is never held.
      return [];
    }
  });
}

function billedTokens(usage: Readonly<Record<string, number>>): number {
  const cached = (usage.cache_creation_input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0);
  return (usage.prompt_tokens ?? usage.input_tokens ?? 0) + cached;
}

/** What agents sent, as the two tokenizers of the product count it; no host's bill is known for them. */
function readAgents(catalog: Catalog, tokenizers: Tokenizers): Sample[] {
  const folder = join(ROOT, 'fixtures/agents');
  const seen = readdirSync(folder).flatMap((file) => {
    const { requests } = parseJson(readFileSync(join(folder, file), 'utf8')) as {
      requests: { path: string; body: Record<string, unknown> }[];
    };
    return requests;
  });
  const own = [1, 5, 14, 40].map((turns) => ({ path: '/v1/messages', body: agentRequest('m', turns) }));
  return [...seen, ...own].flatMap(({ path, body }) => {
    const wire: WireName = path.endsWith('/messages') ? 'messages' : path.endsWith('/responses') ? 'responses' : 'chat';
    const bytes = Buffer.from(JSON.stringify(body));
    return ['gpt-5.1', 'claude-sonnet-5-5', 'gemini-2.5-pro', 'deepseek-v4-pro'].map((id) => {
      const model = modelOf(catalog, id);
      const tokens = promptTokens(wire, bytes, tokenizers.o200k_base);
      return { source: 'agents', family: model?.vendor ?? id, tokens, ...boundsOf(wire, bytes, model, tokenizers) };
    });
  });
}

function promptTokens(wire: WireName, body: Buffer, { countTokens }: KnownTokenizer): number {
  const { texts, toolTexts } = WIRES[wire].client.texts(readBody(body));
  return [...texts, ...toolTexts].reduce((sum, text) => sum + countTokens(text), 0);
}

function modelOf(catalog: Catalog, name: string): CatalogModel | null {
  const found = catalog.resolve(name);
  return 'model' in found ? found.model : null;
}

/** For a model that is not in the catalog. */
const UNKNOWN = { contextWindow: 1_000_000, imageTokensMax: 16_384, tokenizer: null, tokenFactor: { factor: 1.6 } };

function boundsOf(wire: WireName, body: Buffer, model: CatalogModel | null, tokenizers: Tokenizers) {
  const text = readBody(body);
  const { size, prompts = 1 } = WIRES[wire].client.peek(text, {});
  const limits = model ?? UNKNOWN;
  const exact = limits.tokenizer !== null;
  const known = tokenizers[limits.tokenizer ?? 'o200k_base'];
  const measure = (one: string) => finish((exact ? measureExactly : measureRuns)(one, known));
  const { texts, toolTexts } = WIRES[wire].client.texts(text);
  const count = countPrompt(
    texts.map(measure),
    toolTexts.map((one) => toolRenderings(one).map(measure)),
    { exact, factor: limits.tokenFactor.factor },
  );
  const sized: PromptSize = size;
  return {
    byBytes: boundInputTokens(sized, limits, prompts),
    counted: boundCountedTokens(sized, limits, count, prompts),
  };
}

function rowOf(name: string, samples: readonly Sample[]): string {
  const ratio = (read: (sample: Sample) => number): string =>
    median(samples.map((one) => read(one) / one.tokens)).toFixed(1);
  return [
    name,
    String(samples.length).padStart(9),
    String(median(samples.map(({ tokens }) => tokens))).padStart(9),
    ratio(({ byBytes }) => byBytes).padStart(15),
    ratio(({ counted }) => counted).padStart(17),
    String(samples.filter(({ tokens, counted }) => tokens > counted).length).padStart(8),
  ].join('');
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
