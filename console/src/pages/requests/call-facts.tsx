import type { ReactNode } from 'react';
import { CopyIcon } from '../../parts/copy.tsx';
import type { Fact } from '../../parts/facts.tsx';
import { PageLink } from '../../shell/page-link.tsx';

/** What receipts and refused calls both show about a call. */
export function requestFact(id: string): Fact {
  return [
    'Request',
    <span key="id" className="flex items-center gap-1 font-mono text-small">
      {id}
      <CopyIcon text={id} label="Copy the request id" />
    </span>,
  ];
}

export function keyFact(key: string | null, nameOf: (key: string) => string): Fact {
  return ['Key', key === null ? 'none' : keyLink(key, nameOf(key))];
}

function keyLink(key: string, name: string): ReactNode {
  return (
    <PageLink to="/keys" search={{ open: key }} className="hover:underline">
      {name}
    </PageLink>
  );
}

/** A value that machines read: a route, a code, a version. */
export function monoFact(name: string, text: string): Fact {
  return [
    name,
    <span key={name} className="font-mono text-small">
      {text}
    </span>,
  ];
}
