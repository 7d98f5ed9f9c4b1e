import type { ReactNode } from 'react';

/** Rows that open nothing cannot show elsewhere what does not fit. Whoever has no mouse scrolls them once they have the focus. */
export function ScrolledTable({ label, children }: { label: string; children: ReactNode }) {
  return (
    <section
      // biome-ignore lint/a11y/noNoninteractiveTabindex: without it the keyboard cannot scroll it in every browser.
      tabIndex={0}
      aria-label={`${label}, can be scrolled`}
      className="overflow-x-auto focus-visible:outline-offset-[-2px]"
    >
      {children}
    </section>
  );
}
