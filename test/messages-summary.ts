import type { CanonicalResponse, ResponseBlock } from '../src/canonical/events.ts';
import { argumentsOf, type Told, type ToldBlock } from './messages-recordings.ts';

/** A canonical answer in the simple form that recordings are compared in. */
export function toldByAnswer({ blocks, finish }: CanonicalResponse): Told {
  return { blocks: blocks.map(tell), stop: finish.raw, stopSequence: finish.stopSequence };
}

function tell({ head, text, opaque }: ResponseBlock): ToldBlock {
  switch (head.kind) {
    case 'text':
    case 'refusal':
      return { kind: 'text', text };
    case 'reasoning':
      if (opaque !== null && opaque.form === 'redacted') return { kind: 'redacted', data: opaque.data };
      return { kind: 'thinking', text, signature: opaque?.data ?? '' };
    case 'tool-call':
      return { kind: 'call', name: head.name, args: argumentsOf(text) };
  }
}
