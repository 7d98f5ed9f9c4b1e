import type { ReactNode } from 'react';

export type Fact = readonly [name: string, value: ReactNode];

/** Names at the left, values at the right. A null is a fact that does not apply. */
export function Facts({ facts }: { readonly facts: readonly (Fact | null)[] }): ReactNode {
  return (
    <dl className="grid grid-cols-[minmax(96px,max-content)_1fr] gap-x-6 gap-y-1.5">
      {facts.map((fact) =>
        fact === null ? null : (
          <div key={fact[0]} className="contents">
            <dt className="text-muted">{fact[0]}</dt>
            <dd className="min-w-0 break-words">{fact[1]}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
