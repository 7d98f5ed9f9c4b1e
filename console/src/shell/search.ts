import { useNavigate, useSearch } from '@tanstack/react-router';

/** Every filter of every page is a plain text in the query, so that each view has an address that reads well. */
export type Search = Readonly<Record<string, string | undefined>>;

export function parseSearch(text: string): Search {
  return Object.fromEntries(new URLSearchParams(text));
}

export function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}

interface Filters {
  readonly search: Search;
  /** Changes the filters that are named; undefined removes one from the address. */
  change(patch: Search, options?: { readonly replace?: boolean }): void;
}

export function useFilters(): Filters {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  return {
    search,
    // "Back" does not open again what was closed.
    change: (patch, { replace = isClosing(patch) } = {}) =>
      void navigate({
        to: '.',
        search: ((before: Search) => ({ ...before, ...patch })) as never,
        replace,
        resetScroll: false,
      }),
  };
}

function isClosing(patch: Search): boolean {
  return Object.entries(patch).every(([name, value]) => ['open', 'dialog'].includes(name) && value === undefined);
}
