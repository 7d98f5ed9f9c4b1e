import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Effort } from '../../src/canonical/reasoning.ts';
import { nanousd, type PriceFigures, type RateFigures } from './figures.ts';

/** What `@earendil-works/pi-ai` says about a model at one host. */
export interface Facts {
  name: string;
  contextWindow: number;
  maxOutputTokens: number;
  tools: boolean;
  images: boolean;
  reasoning: boolean;
  efforts: Effort[];
  temperature: boolean;
  price: PriceFigures | null;
}

interface RawCost {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

interface RawModel {
  id: string;
  type: string;
  name: string;
  contextWindow: number;
  maxTokens: number;
  input: string[];
  reasoning: boolean;
  thinkingLevelMap?: Record<string, string | null>;
  promptCache?: { long?: number };
  compat?: { supportsTemperature?: boolean; forceAdaptiveThinking?: boolean };
  cost: RawCost & { tiers?: (RawCost & { inputTokensAbove: number })[] };
}

/** The package's name for each effort; a model without an entry has all but the two strongest. */
const LEVELS: [level: string, effort: Effort][] = [
  ['off', 'none'],
  ['minimal', 'minimal'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
  ['xhigh', 'xhigh'],
  ['max', 'max'],
];
const ONLY_IF_NAMED = new Set(['xhigh', 'max']);

/** Host -> model name -> facts. Empty for hosts that the package does not know. */
export function readFacts(packageFolder: string, hosts: Iterable<string>): Map<string, Map<string, Facts>> {
  return new Map(Array.from(hosts, (host) => [host, readHost(packageFolder, host)]));
}

function readHost(packageFolder: string, host: string): Map<string, Facts> {
  const text = readIfThere(join(packageFolder, 'dist/providers/data', `${host}.json`));
  if (text === undefined) return new Map();
  const byApi = JSON.parse(text) as Record<string, Record<string, RawModel>>;
  const chat = Object.values(byApi).flatMap((models) => Object.values(models).filter((model) => model.type === 'chat'));
  return new Map(chat.map((model) => [model.id, readModel(model)]));
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function readModel(model: RawModel): Facts {
  return {
    name: model.name.replace(/ \(latest\)$/, ''),
    contextWindow: model.contextWindow,
    maxOutputTokens: Math.min(model.maxTokens, model.contextWindow),
    tools: true, // the package lists only models that can call tools
    images: model.input.includes('image'),
    reasoning: model.reasoning,
    efforts: model.reasoning ? readEfforts(model) : [],
    temperature: model.compat?.supportsTemperature ?? true,
    price: readCost(model),
  };
}

function readEfforts(model: RawModel): Effort[] {
  const takesWords = model.compat?.forceAdaptiveThinking === true;
  return LEVELS.filter(([level, effort]) => {
    const word = model.thinkingLevelMap?.[level];
    if (word === undefined && takesWords && effort === 'minimal') return false; // such a model has no word for it
    if (word === undefined) return !ONLY_IF_NAMED.has(level);
    return word === effort; // null: not offered; another word: the host would not understand ours
  }).map(([, effort]) => effort);
}

/** The package writes 0 for "unknown" as well as for "free", so a price of 0 is ignored. */
function readCost(model: RawModel): PriceFigures | null {
  const { cost } = model;
  if (cost.input === 0 || cost.output === 0) return null;
  const hasLongCache = model.promptCache?.long !== undefined;
  const tiers = (cost.tiers ?? []).map((tier) => ({
    above_input_tokens: tier.inputTokensAbove,
    ...readRates(tier, hasLongCache),
  }));
  return { ...readRates(cost, hasLongCache), tiers };
}

function readRates(cost: RawCost, hasLongCache: boolean): RateFigures {
  return {
    input: nanousd(cost.input),
    output: nanousd(cost.output),
    cache_read: cost.cacheRead === 0 ? null : nanousd(cost.cacheRead),
    cache_write: cost.cacheWrite === 0 ? null : nanousd(cost.cacheWrite),
    // The package bills an hour in the cache at twice the input rate, as the vendor's page says.
    cache_write_1h: hasLongCache ? 2 * nanousd(cost.input) : null,
  };
}
