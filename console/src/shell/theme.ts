import { useState } from 'react';

export type Theme = 'system' | 'light' | 'dark';

const STORED = 'tollgate.theme';

function storedTheme(): Theme {
  const stored = localStorage.getItem(STORED);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

/** Before the first paint, so that nothing flashes. */
export function applyTheme(theme: Theme = storedTheme()): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(storedTheme);
  const choose = (chosen: Theme): void => {
    if (chosen === 'system') localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, chosen);
    applyTheme(chosen);
    setTheme(chosen);
  };
  return [theme, choose];
}
