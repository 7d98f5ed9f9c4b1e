import type { HostQuirks } from '../../canonical/host-quirks.ts';
import type { Block, OpaqueReasoning, ReasoningBlock } from '../../canonical/request.ts';
import { isAbsent, type Members, objectsIn } from '../fields/members.ts';

/**
 * Reasoning text and its opaque part are in `reasoning_details[]`, in requests and responses; `format` names the vendor.
 * Fragments with the same index make up one block. A fragment without one belongs to the block before it.
 */
export function readReasoningDetails(message: Members): ReasoningBlock[] {
  const details = objectsIn(message.reasoning_details);
  if (details.length > 0) return blocksOf(details).filter(isWhole).map(asBlock);
  const trace = [message.reasoning, message.reasoning_content].find((text) => typeof text === 'string' && text !== '');
  return trace === undefined ? [] : [{ kind: 'reasoning', text: trace as string, opaque: null }];
}

/** A block that is being built from its details. */
interface Gathering {
  text: string;
  opaque: OpaqueReasoning | null;
  hasText: boolean;
}

function blocksOf(details: readonly Members[]): Gathering[] {
  const blocks: Gathering[] = [];
  const byIndex = new Map<unknown, Gathering>();
  for (const detail of details) {
    const earlier = isAbsent(detail.index) ? openBlockOf(blocks) : byIndex.get(detail.index);
    const block = earlier ?? { text: '', opaque: null, hasText: false };
    if (earlier === undefined) blocks.push(block);
    if (!isAbsent(detail.index)) byIndex.set(detail.index, block);
    block.text += textIn(detail);
    block.opaque = readOpaque(detail) ?? block.opaque;
    block.hasText ||= typeof detail.text === 'string';
  }
  return blocks;
}

/** The last block, until it has its opaque part: hosts send that after the text. */
function openBlockOf(blocks: readonly Gathering[]): Gathering | undefined {
  const last = blocks.at(-1);
  return last?.opaque === null ? last : undefined;
}

/** Hosts refuse a signature without the text that it signs. The text is empty, not absent, if there was none. */
function isWhole({ opaque, hasText }: Gathering): boolean {
  return opaque?.form !== 'signature' || hasText;
}

function asBlock({ text, opaque }: Gathering): ReasoningBlock {
  return { kind: 'reasoning', text, opaque };
}

/** Whether a client has lost signed text: some join the deltas of a stream by keeping the last value of each unknown member. */
export function hasLostText({ reasoning_details: details }: Members): boolean {
  return !blocksOf(objectsIn(details)).every(isWhole);
}

/** The text of a detail; empty if it has none. */
export function textIn({ text, summary }: Members): string {
  const words = text ?? summary;
  return typeof words === 'string' ? words : '';
}

/** The tag for reasoning whose maker is not named; resellers use the same word. */
const UNKNOWN = 'unknown';

/** The opaque part of a detail, or null. */
export function readOpaque(detail: Members): OpaqueReasoning | null {
  const vendor = typeof detail.format === 'string' ? detail.format : UNKNOWN;
  const id = typeof detail.id === 'string' ? { id: detail.id } : {};
  if (typeof detail.signature === 'string' && detail.signature !== '') {
    return { vendor, form: 'signature', data: detail.signature, ...id };
  }
  if (typeof detail.data !== 'string') return null;
  return { vendor, form: detail.redacted === true ? 'redacted' : 'encrypted', data: detail.data, ...id };
}

/** The detail for a fragment of reasoning text. */
export function textDetail(text: string, index: number): Members {
  return { type: 'reasoning.text', text, index };
}

/** The detail for a block's opaque part, which has text before it or not; the client sends it back unchanged. */
export function opaqueDetail({ vendor, form, data, id }: OpaqueReasoning, index: number, hasText: boolean): Members {
  const tag = { format: vendor, index, ...(id === undefined ? {} : { id }) };
  if (form === 'signature') return { type: 'reasoning.text', ...(!hasText && { text: '' }), signature: data, ...tag };
  return { type: 'reasoning.encrypted', data, ...(form === 'redacted' ? { redacted: true } : {}), ...tag };
}

/**
 * The reasoning of a turn for a host of this wire. An opaque part means that another vendor made it, so it is left out, except
 * for a reseller.
 */
export function writeReasoning(blocks: readonly Block[], { seals }: HostQuirks = {}): Members {
  const reasoning = blocks.filter((block) => block.kind === 'reasoning');
  const trace = reasoning.map(({ text, opaque }) => (opaque === null ? text : '')).join('');
  const sealed = seals === 'any' ? reasoning.flatMap(detailForReseller) : [];
  return {
    ...(trace !== '' && { reasoning_content: trace }),
    ...(sealed.length > 0 && { reasoning_details: sealed }),
  };
}

/** Resellers tag reasoning with a version. Other tags are names of this gateway, and their reasoning is bound to its own accounts. */
const RESELLERS_TAG = /-v\d+$/;

/** Whether a detail with this tag may have come from a reseller. */
export function isResellersTag(tag: string): boolean {
  return tag === UNKNOWN || RESELLERS_TAG.test(tag);
}

function detailForReseller({ text, opaque }: ReasoningBlock, index: number): Members[] {
  if (opaque === null || !RESELLERS_TAG.test(opaque.vendor)) return [];
  const detail = opaqueDetail(opaque, index, text !== '');
  return [opaque.form === 'signature' ? { ...detail, text } : detail];
}
