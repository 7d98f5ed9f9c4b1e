import { CAPABILITIES, type Capability } from '../../src/canonical/capability.ts';
import type { HostWire } from '../../src/canonical/wire-names.ts';
import { findLoss } from '../../src/catalog/loss.ts';
import { readPrice } from '../../src/catalog/rows.ts';
import type { ModelRow, PriceRow } from '../../src/catalog/schema.ts';
import type { Facts } from './facts-source.ts';
import { differences, higherPrice, highestOfHosts, type PriceFigures } from './figures.ts';
import { framingOf } from './framing.ts';
import { type PricePackage, readPriceOf } from './price-source.ts';
import type { AlsoServed, Seat } from './seats.ts';
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
export function makeRow(seat: Seat, sources: Sources): ModelRow | undefined {
  const row = makeOwnRow(seat, sources);
  if (row === undefined) return undefined;
  const joined = Object.entries(seat.also ?? {}).map(([host, served]) => joinHost(seat, row, host, served, sources));
  return { ...row, hosts: [...row.hosts, ...joined.filter((place) => place !== undefined)] };
}

function makeOwnRow(seat: Seat, sources: Sources): ModelRow | undefined {
  const offers = Object.entries(seat.hosts)
    .map(([host, model]) => readOffer(seat, host, model, sources))
    .filter((offer) => offer !== undefined)
    .sort((a, b) => costOf(a) - costOf(b) || (a.host < b.host ? -1 : 1));
  const [cheapest] = offers;
  if (cheapest === undefined) return undefined;
  const price = highestOfHosts(offers.map((offer) => offer.price));
  const facts = inCommon(
    cheapest.facts,
    offers.map((offer) => offer.facts),
  );
  const efforts = facts.efforts.filter((effort) => !seat.withoutEfforts?.includes(effort));
  const caps = capabilitiesOf(seat, facts, price);
  return {
    id: seat.id,
    name: facts.name,
    vendor: seat.vendor,
    created: createdSeconds(seat, sources),
    aliases: aliasesOf(seat),
    caps: CAPABILITIES.filter((cap) => caps.has(cap)),
    // The largest window in any source: a smaller one would bound the hold below what may be billed.
    context_window: Math.max(seat.contextWindow ?? 0, ...offers.map((offer) => offer.contextWindow)),
    max_output_tokens: facts.maxOutputTokens,
    tokenizer: seat.tokenizer ?? null,
    ...tokenFactorOf(seat),
    ...framingOf(seat.id, seat.vendor, seat.embedding !== undefined),
    image_tokens_max: caps.has('images') ? (seat.imageTokensMax ?? null) : null,
    ...(efforts.length > 0 && { reasoning_efforts: efforts }),
    ...(seat.thinking !== undefined && { thinking: seat.thinking }),
    ...(isFixedSampling(seat, facts) && { fixed_sampling: true }),
    ...(seat.embedding !== undefined && { embedding: seat.embedding }),
    ...(seat.cacheWrites !== undefined && { cache_writes: seat.cacheWrites }),
    price: priceRow(price),
    price_source: sourceOf(offers, sources),
    hosts: offers.map((offer) => placeOf(offer, price, seat.wire)),
  };
}

/** A host's own price is stored with the host if it differs from the model's. */
function placeOf({ host, model, price: own }: Offer, price: PriceFigures, wire: HostWire | undefined): Place {
  const charged = highestOfHosts([own]);
  const isOwn = JSON.stringify(charged) !== JSON.stringify(price);
  return { host, model, ...(wire !== undefined && { wire }), ...(isOwn && { price: priceRow(charged) }) };
}

/** The same model at one more host, if it costs no more and can do as much; else undefined, with a line in the report. */
function joinHost(seat: Seat, row: ModelRow, host: string, served: AlsoServed, sources: Sources): Place | undefined {
  const label = `${seat.id} at ${host}`;
  const omit = (why: string): undefined => void sources.report(`${label}: does not join, ${why}.`);
  if (sources.facts.get(host)?.has(served.model) !== true) return omit(`it lists no ${served.model}`);
  const offer = readOffer(seat, host, served.model, sources);
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

function readOffer(seat: Seat, host: string, model: string, sources: Sources): Offer | undefined {
  const listed = sources.facts.get(host)?.get(model);
  const facts = listed ?? statedFacts(seat);
  if (facts === undefined) return omit(`${seat.id} at ${host}: left out, its window and capabilities are not known.`);
  const label = `${seat.id} at ${host}`;
  const priced = readPriceOf(sources.prices, host, model, seat.kind, sources.today);
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
    return alignTiers(price, { model: label, vendor: seat.vendor, contextWindow, report: sources.report });
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

function statedFacts(seat: Seat): Facts | undefined {
  if (seat.facts === undefined) return undefined;
  return { ...seat.facts, images: false, reasoning: false, efforts: [], temperature: true, price: null };
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

function capabilitiesOf(seat: Seat, facts: Facts, price: PriceFigures): Set<Capability> {
  if (seat.kind !== 'chat') return new Set([seat.kind]);
  const caps = new Set<Capability>(['chat']);
  if (facts.tools) caps.add('tools');
  if (facts.images && seat.imageTokensMax !== undefined) caps.add('images');
  if (caps.has('images') && seat.documents) caps.add('documents');
  if (facts.reasoning) caps.add('reasoning');
  if (seat.structuredOutputs ?? true) caps.add('structured_outputs');
  if (price.cache_read !== null) caps.add('prompt_caching');
  if (seat.messages) caps.add('messages');
  return caps;
}

function isFixedSampling(seat: Seat, facts: Facts): boolean {
  return !facts.temperature || (facts.reasoning && seat.fixedSamplingWhenReasoning === true);
}

function tokenFactorOf({ id, vendor, tokenizer }: Seat): Pick<ModelRow, 'token_factor'> {
  const factor = OWN_TOKEN_FACTORS[id] ?? TOKEN_FACTORS[vendor];
  return tokenizer !== undefined || factor === undefined ? {} : { token_factor: factor };
}

/** Other aggregators' spellings: dots for dashes and the reverse, and the last segment of every host's name. */
function aliasesOf(seat: Seat): string[] {
  const hostNames = Object.values(seat.hosts).map((name) => name.slice(name.lastIndexOf('/') + 1));
  const dashed = seat.id.replace(/(\d)\.(\d)/g, '$1-$2');
  const dotted = seat.id.replace(/^(claude-[a-z]+-\d)-(\d)$/, '$1.$2');
  const all = new Set([...(seat.aliases ?? []), ...hostNames, dashed, dotted]);
  all.delete(seat.id);
  return [...all].sort();
}

function createdSeconds(seat: Seat, sources: Sources): number {
  if (seat.released !== undefined) return Date.parse(seat.released) / 1000;
  return sources.firstListed.get(seat.id) ?? Date.parse(sources.today) / 1000;
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
