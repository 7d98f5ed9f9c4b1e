import type {
  Block,
  CanonicalMessage,
  ImageBlock,
  RefusalBlock,
  ShownBlock,
  ToolResultBlock,
} from '../../canonical/request.ts';
import { acceptedCallId } from '../fields/call-id.ts';
import { writeImageUrl } from '../fields/image-url.ts';
import { writeFile } from '../fields/inline-file.ts';
import type { Members } from '../fields/members.ts';
import { isOwn, RESPONSES_VENDOR } from './encrypted-reasoning.ts';

/** Writes messages as items for a host of this vendor; one message may become several items. */
export function writeItems(messages: readonly CanonicalMessage[], vendor = RESPONSES_VENDOR): Members[] {
  return messages.flatMap(({ role, blocks }) =>
    role === 'assistant' ? writeTurn(blocks, vendor) : writeMessage(role, blocks),
  );
}

type MessageContent = ShownBlock | RefusalBlock;

/** Adjacent text and images share one message; every other block is an item. */
function writeMessage(role: 'system' | 'user', blocks: readonly Block[]): Members[] {
  return inRuns(blocks).map((run) =>
    Array.isArray(run) ? { role, content: writeContent(run) } : writeResult(run as ToolResultBlock),
  );
}

function writeTurn(blocks: readonly Block[], vendor: string): Members[] {
  const lastDeed = blocks.findLastIndex(({ kind }) => kind !== 'reasoning');
  // Hosts of this wire refuse reasoning that nothing follows.
  return inRuns(blocks.slice(0, lastDeed + 1)).flatMap((run) =>
    Array.isArray(run) ? [{ role: 'assistant', content: run.map(writeOutput) }] : writeDeed(run, vendor),
  );
}

function inRuns(blocks: readonly Block[]): (MessageContent[] | Block)[] {
  const runs: (MessageContent[] | Block)[] = [];
  for (const block of blocks) {
    const last = runs.at(-1);
    if (!isMessageContent(block)) runs.push(block);
    else if (Array.isArray(last)) last.push(block);
    else runs.push([block]);
  }
  return runs;
}

function isMessageContent(block: Block): block is MessageContent {
  return ['text', 'refusal', 'image', 'document'].includes(block.kind);
}

/** Calls, and encrypted reasoning of this host's vendor; reasoning text of other models is dropped. */
function writeDeed(block: Block, vendor: string): Members[] {
  if (block.kind === 'tool-call') {
    const { id, name, argumentsJson } = block;
    return [
      { type: 'function_call', call_id: callIdOf(id), name, arguments: argumentsJson === '' ? '{}' : argumentsJson },
    ];
  }
  if (block.kind !== 'reasoning' || block.opaque === null || !isOwn(block.opaque, vendor)) return [];
  const { data, id } = block.opaque;
  const summary = block.text === '' ? [] : [{ type: 'summary_text', text: block.text }];
  return [{ type: 'reasoning', ...(id !== undefined && { id }), summary, encrypted_content: data }];
}

function writeOutput(block: MessageContent): Members {
  if (block.kind === 'refusal') return { type: 'refusal', refusal: block.text };
  return block.kind === 'text' ? { type: 'output_text', text: block.text } : writeInput(block);
}

function writeContent(run: readonly MessageContent[]): string | Members[] {
  const only = run.length === 1 ? run[0]! : null;
  return only?.kind === 'text' ? only.text : run.map(writeInput);
}

function writeInput(block: MessageContent): Members {
  if (block.kind === 'document') return { type: 'input_file', ...writeFile(block) };
  return block.kind === 'image' ? writeImage(block) : { type: 'input_text', text: block.text };
}

function writeImage(image: ImageBlock): Members {
  const { detail } = image;
  return { type: 'input_image', image_url: writeImageUrl(image), ...(detail !== null && { detail }) };
}

const CALL_ID = /^.{1,64}$/s;

function callIdOf(id: string): string {
  return acceptedCallId(id, CALL_ID);
}

/** This wire has no flag for a failed tool, so only the text can say so. */
function writeResult({ callId, content }: ToolResultBlock): Members {
  const output = content.length === 0 ? '' : writeContent(content);
  return { type: 'function_call_output', call_id: callIdOf(callId), output };
}
