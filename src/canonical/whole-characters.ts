import type { EventSink } from './events.ts';

/** Stands for a half whose other half never came. */
const REPLACEMENT = '\ufffd';

/**
 * Passes events on. If a text ends within a character, its first half waits for the second: some hosts cut between the two
 * halves of a surrogate pair, and clients in many languages cannot encode or print a half.
 */
export function wholeCharacters(sink: EventSink): EventSink {
  let half = '';
  return (event) => {
    if (event.kind === 'block-delta' && (half !== '' || endsWithHalf(event.text))) {
      const text = half + event.text;
      const end = endsWithHalf(text) ? text.length - 1 : text.length;
      half = text.slice(end);
      if (end > 0) sink({ kind: 'block-delta', text: text.slice(0, end).toWellFormed() });
      return;
    }
    if (event.kind === 'block-end' && half !== '') {
      half = '';
      sink({ kind: 'block-delta', text: REPLACEMENT });
    }
    sink(event);
  };
}

function endsWithHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}
