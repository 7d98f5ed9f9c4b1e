import { CAPABILITIES, type Capability } from '../../src/canonical/capability.ts';
import type { HostWire } from '../../src/canonical/wire-names.ts';
import { findLoss } from '../../src/catalog/loss.ts';
import { readPrice } from '../../src/catalog/rows.ts';
import type { ModelRow, PriceRow } from '../../src/catalog/schema.ts';
import type { Facts } from './facts-source.ts';
import { differences, higherPrice, highestOfHosts, type PriceFigures } from './figures.ts';
import { framingOf } from './framing.ts';
import type { AlsoServed, OfferedModel } from './offered-models.ts';
import { type PricePackage, readPriceOf } from './price-source.ts';
import { alignTiers } from './tier-boundaries.ts';
import { OWN_TOKEN_FACTORS, TOKEN_FACTORS } from './token-factors.ts';

export interface Sources {
  prices: PricePackage;
  pricesName: { package: string; version: string };
  facts: Map<string, Map<string, Facts>>;
  factsName: { package: string; version: string };
  today: string;
  /** When the catalog first listed a model, in seconds. */
  firstListed: Map<string, number>;
  report: (line: string) => void;
}

interface Offer {
  host: string;
  model: string;
  price: PriceFigures;
  sources: PriceSource[];
  contextWindow: number;
  facts: Facts;
}

type PriceSource = 'prices' | 'facts';

type Place = ModelRow['hosts'][number];

/** Undefined, with a line in the report, if no source has a price: a model without a price is never free. */
export function makeRow(offered: OfferedModel, sources: Sources): ModelRow | undefined {
  const row = makeOwnRow(offered, sources);
  if (row === undefined) return undefined;
  const joined = Object.entries(offered.also ?? {}).map(([host, served]) =>
    joinHost(offered, row, host, served, sources),
  );
  return { ...row, hosts: [...row.hosts, ...joined.filter((place) => place !== undefined)] };
}

function makeOwnRow(offered: OfferedModel, sources: Sources): ModelRow | undefined {
  const offers = Object.entries(offered.hosts)
    .map(([host, model]) => readOffer(offered, host, model, sources))
    .filter((offer) => offer !== undefined)
    .sort((a, b) => costOf(a) - costOf(b) || (a.host < b.host ? -1 : 1));
  const [cheapest] = offers;
  if (cheapest === undefined) return undefined;
  const price = highestOfHosts(offers.map((offer) => offer.price));
  const facts = inCommon(
    cheapest.facts,
    offers.map((offer) => offer.facts),
  );
  const efforts = facts.efforts.filter((effort) => !offered.withoutEfforts?.includes(effort));
  const caps = capabilitiesOf(offered, facts, price);
  return {
    id: offered.id,
    name: facts.name,
    vendor: offered.vendor,
    created: createdSeconds(offered, sources),
    aliases: aliasesOf(offered),
    caps: CAPABILITIES.filter((cap) => caps.has(cap)),
    // The largest window in any source: a smaller one would bound the hold below what may be billed.
    context_window: Math.max(offered.contextWindow ?? 0, ...offers.map((offer) => offer.contextWindow)),
    max_output_tokens: facts.maxOutputTokens,
    tokenizer: offered.tokenizer ?? null,
    ...tokenFactorOf(offered),
    ...framingOf(offered.id, offered.vendor, offered.embedding !== undefined),
    image_tokens_max: caps.has('images') ? (offered.imageTokensMax ?? null) : null,
    ...(efforts.length > 0 && { reasoning_efforts: efforts }),
    ...(offered.thinking !== undefined && { thinking: offered.thinking }),
    ...(isFixedSampling(offered, facts) && { fixed_sampling: true }),
    ...(offered.embedding !== undefined && { embedding: offered.embedding }),
    ...(offered.cacheWrites !== undefined && { cache_writes: offered.cacheWrites }),
    price: priceRow(price),
    price_source: sourceOf(offers, sources),
    hosts: offers.map((offer) => placeOf(offer, price, offered.wire)),
  };
}

/** A host's own price is stored with the host if it differs from the model's. */
function placeOf({ host, model, price: own }: Offer, price: PriceFigures, wire: HostWire | undefined): Place {
  const charged = highestOfHosts([own]);
  const isOwn = JSON.stringify(charged) !== JSON.stringify(price);
  return { host, model, ...(wire !== undefined && { wire }), ...(isOwn && { price: priceRow(charged) }) };
}

/** The same model at one more host, if it costs no more and can do as much; else undefined, with a line in the report. */
function joinHost(
  offered: OfferedModel,
  row: ModelRow,
  host: string,
  served: AlsoServed,
  sources: Sources,
): Place | undefined {
  const label = `${offered.id} at ${host}`;
  const omit = (why: string): undefined => void sources.report(`${label}: does not join, ${why}.`);
  if (sources.facts.get(host)?.has(served.model) !== true) return omit(`it lists no ${served.model}`);
  const offer = readOffer(offered, host, served.model, sources);
  if (offer === undefined || row.price === undefined) return undefined;
  const loss = findLoss(readPrice(priceRow(highestOfHosts([offer.price]))), readPrice(row.price));
  if (loss !== null) return omit(`it charges ${loss.hostRate} for ${loss.rate} against ${loss.callerRate}`);
  if (offer.contextWindow < row.context_window) return omit(`its window is only ${offer.contextWindow}`);
  const { maxOutputTokens } = offer.facts;
  if (maxOutputTokens < (row.max_output_tokens ?? 0)) return omit(`it writes only ${maxOutputTokens} tokens`);
  const missing = ['images', 'reasoning'] as const;
  const lacks = missing.find((cap) => row.caps?.includes(cap) && !offer.facts[cap]);
  if (lacks !== undefined) return omit(`it has no ${lacks}`);
  // A rate that its price list omits or rounds would look lower, so the catalog's rate counts.
  return { host, ...served };
}

function readOffer(offered: OfferedModel, host: string, model: string, sources: Sources): Offer | undefined {
  const listed = sources.facts.get(host)?.get(model);
  const facts = listed ?? statedFacts(offered);
  if (facts === undefined)
    return omit(`${offered.id} at ${host}: left out, its window and capabilities are not known.`);
  const label = `${offered.id} at ${host}`;
  const priced = readPriceOf(sources.prices, host, model, offered.kind, sources.today);
  if ('unpriced' in priced) {
    if (priced.unpriced !== 'not listed' || facts.price === null) {
      return omit(`${label}: left out, unpriced (${priced.unpriced}).`);
    }
    sources.report(`${label}: only ${sources.factsName.package} has a price.`);
    const price = aligned(facts.price, facts.contextWindow);
    return { host, model, facts, price, sources: ['facts'], contextWindow: facts.contextWindow };
  }
  for (const note of priced.notes) sources.report(`${label}: ${note}.`);
  const window = Math.max(priced.contextWindow ?? 0, facts.contextWindow);
  if (priced.contextWindow !== null && priced.contextWindow !== facts.contextWindow) {
    sources.report(`${label}: window ${priced.contextWindow} against ${facts.contextWindow}, the larger counts.`);
  }
  const both = combine(label, priced.price, facts.price, sources);
  return { host, model, facts, ...both, price: aligned(both.price, window), contextWindow: window };

  function aligned(price: PriceFigures, contextWindow: number): PriceFigures {
    return alignTiers(price, { model: label, vendor: offered.vendor, contextWindow, report: sources.report });
  }

  function omit(line: string): undefined {
    sources.report(line);
    return undefined;
  }
}

function combine(
  label: string,
  first: PriceFigures,
  second: PriceFigures | null,
  sources: Sources,
): Pick<Offer, 'price' | 'sources'> {
  if (second === null) return { price: first, sources: ['prices'] };
  for (const difference of differences(first, second)) {
    sources.report(`${label}: ${difference}, the higher one counts.`);
  }
  const price = higherPrice(first, second);
  return { price, sources: JSON.stringify(price) === JSON.stringify(first) ? ['prices'] : ['prices', 'facts'] };
}

function statedFacts(offered: OfferedModel): Facts | undefined {
  if (offered.facts === undefined) return undefined;
  return { ...offered.facts, images: false, reasoning: false, efforts: [], temperature: true, price: null };
}

/** A model can do what all of its hosts support. */
function inCommon(cheapest: Facts, all: readonly Facts[]): Facts {
  return {
    name: cheapest.name,
    contextWindow: cheapest.contextWindow,
    maxOutputTokens: Math.min(...all.map((facts) => facts.maxOutputTokens)),
    tools: all.every((facts) => facts.tools),
    images: all.every((facts) => facts.images),
    reasoning: all.every((facts) => facts.reasoning),
    efforts: cheapest.efforts.filter((effort) => all.every((facts) => facts.efforts.includes(effort))),
    temperature: all.every((facts) => facts.temperature),
    price: cheapest.price,
  };
}

function capabilitiesOf(offered: OfferedModel, facts: Facts, price: PriceFigures): Set<Capability> {
  if (offered.kind !== 'chat') return new Set([offered.kind]);
  const caps = new Set<Capability>(['chat']);
  if (facts.tools) caps.add('tools');
  if (facts.images && offered.imageTokensMax !== undefined) caps.add('images');
  if (caps.has('images') && offered.documents) caps.add('documents');
  if (facts.reasoning) caps.add('reasoning');
  if (offered.structuredOutputs ?? true) caps.add('structured_outputs');
  if (price.cache_read !== null) caps.add('prompt_caching');
  if (offered.messages) caps.add('messages');
  return caps;
}

function isFixedSampling(offered: OfferedModel, facts: Facts): boolean {
  return !facts.temperature || (facts.reasoning && offered.fixedSamplingWhenReasoning === true);
}

function tokenFactorOf({ id, vendor, tokenizer }: OfferedModel): Pick<ModelRow, 'token_factor'> {
  const factor = OWN_TOKEN_FACTORS[id] ?? TOKEN_FACTORS[vendor];
  return tokenizer !== undefined || factor === undefined ? {} : { token_factor: factor };
}

/** Other aggregators' spellings: dots for dashes and the reverse, and the last segment of every host's name. */
function aliasesOf(offered: OfferedModel): string[] {
  const hostNames = Object.values(offered.hosts).map((name) => name.slice(name.lastIndexOf('/') + 1));
  const dashed = offered.id.replace(/(\d)\.(\d)/g, '$1-$2');
  const dotted = offered.id.replace(/^(claude-[a-z]+-\d)-(\d)$/, '$1.$2');
  const all = new Set([...(offered.aliases ?? []), ...hostNames, dashed, dotted]);
  all.delete(offered.id);
  return [...all].sort();
}

function createdSeconds(offered: OfferedModel, sources: Sources): number {
  if (offered.released !== undefined) return Date.parse(offered.released) / 1000;
  return sources.firstListed.get(offered.id) ?? Date.parse(sources.today) / 1000;
}

function priceRow(price: PriceFigures): PriceRow {
  const { tiers, ...rates } = price;
  return tiers.length > 0 ? { ...rates, tiers } : rates;
}

function sourceOf(offers: readonly Offer[], sources: Sources): ModelRow['price_source'] {
  const used = new Set(offers.flatMap((offer) => offer.sources));
  const checked = sources.today;
  if (!used.has('prices')) return { ...sources.factsName, checked };
  const also = `${sources.factsName.package}@${sources.factsName.version}`;
  return { ...sources.pricesName, checked, ...(used.has('facts') && { also }) };
}

function costOf(offer: Offer): number {
  return offer.price.input + offer.price.output;
}
