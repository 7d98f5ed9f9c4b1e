import type { ReactNode } from 'react';

/** The beginning and the last four characters of a secret, which is all that anybody can see of it. */
export function KeyHint({ hint }: { readonly hint: string }): ReactNode {
  const [prefix = '', last = ''] = hint.split('…');
  return (
    <span className="hidden font-mono text-small whitespace-nowrap text-muted wide:inline">{`${prefix}…${last}`}</span>
  );
}
