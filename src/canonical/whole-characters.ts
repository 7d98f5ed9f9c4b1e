import { isFirstHalf } from '../kit/cut-text.ts';
import type { EventSink } from './events.ts';

/** Stands for a half whose other half never came. */
const REPLACEMENT = '\ufffd';

/**
 * Passes events on. If a text ends within a character, its first half waits for the second: some hosts cut between the two
 * halves of a surrogate pair, and clients in many languages cannot encode or print a half. A half without the other is replaced.
 */
export function wholeCharacters(sink: EventSink): EventSink {
  let half = '';
  return (event) => {
    if (event.kind === 'block-delta' && (half !== '' || !event.text.isWellFormed())) {
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
  return isFirstHalf(text.charCodeAt(text.length - 1));
}
