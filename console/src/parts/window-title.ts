import { useEffect } from 'react';

const shown = { drawer: '', page: '' };

/** Names the window after the page and the drawer that is open, so that tabs and the history can be told apart. */
export function useWindowTitle(part: keyof typeof shown, title: string): void {
  useEffect(() => {
    write(part, title);
    // The name of a page stays until the next one is loaded.
    return part === 'page' ? undefined : () => write(part, '');
  }, [part, title]);
}

function write(part: keyof typeof shown, title: string): void {
  shown[part] = title;
  document.title = [shown.drawer, shown.page, 'Tollgate'].filter((each) => each !== '').join(' · ');
}
