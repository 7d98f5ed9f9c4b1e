import type { CanonicalEvent, EventSink } from './events.ts';

/** A stream reader emitted events in the wrong order. This is a bug of ours, never the caller's fault. */
class EventOrderViolation extends Error {
  override readonly name = 'EventOrderViolation';
}

/** Passes events on and throws if one is out of order: start, blocks one at a time, finish; usage anywhere, error once. */
export function inOrder(sink: EventSink): EventSink {
  let state: 'before' | 'between' | 'inside' | 'finished' | 'failed' = 'before';
  const next = (event: CanonicalEvent): typeof state | null => {
    switch (event.kind) {
      case 'start':
        return state === 'before' ? 'between' : null;
      case 'block-start':
        return state === 'between' ? 'inside' : null;
      case 'block-delta':
        return state === 'inside' ? 'inside' : null;
      case 'block-end':
        return state === 'inside' ? 'between' : null;
      case 'usage':
        return state === 'failed' ? null : state;
      case 'finish':
        return state === 'between' ? 'finished' : null;
      case 'error':
        return state === 'failed' || state === 'finished' ? null : 'failed';
    }
  };
  return (event) => {
    const following = next(event);
    if (following === null) throw new EventOrderViolation(`Event "${event.kind}" is not allowed in state "${state}".`);
    state = following;
    sink(event);
  };
}
