import type { ReactNode } from 'react';

/** The beginning and the last four characters of a secret, which is all that anybody can see of it. */
function KeyHint({ hint }: { readonly hint: string }): ReactNode {
  return <span className="hidden font-mono text-small whitespace-nowrap text-muted wide:inline">{hint}</span>;
}

/** The name of a key, with its hint beside or below it. */
export function NamedKey({ name, hint }: { readonly name: string; readonly hint: string }): ReactNode {
  return (
    <span className="flex min-w-0 flex-col gap-x-2 large:flex-row large:items-baseline">
      <span title={name} className="truncate font-medium">
        {name}
      </span>
      <KeyHint hint={hint} />
    </span>
  );
}
