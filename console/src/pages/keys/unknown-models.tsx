import type { ReactNode } from 'react';

/** A typing error in the name of a model would otherwise be noticed only when the calls of the key are refused. */
export function UnknownModels({ names }: { readonly names: readonly string[] }): ReactNode {
  if (names.length === 0) return null;
  return (
    <p role="status" className="rounded-control bg-warning-soft px-3 py-2 break-words text-warning">
      No model has these names now: {names.join(', ')}. They are kept, because a model may be added later.
    </p>
  );
}
