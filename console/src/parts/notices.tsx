import { createContext, type ReactNode, use, useCallback, useMemo, useState } from 'react';

const SHOWN_MS = 5_000;

interface Notices {
  /** Briefly says what the server has done. */
  tell(text: string): void;
}

const NoticesContext = createContext<Notices>({ tell: () => undefined });

export function useNotices(): Notices {
  return use(NoticesContext);
}

interface Notice {
  readonly id: number;
  readonly text: string;
}

let lastId = 0;

export function NoticesProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const tell = useCallback((text: string) => {
    lastId += 1;
    const notice = { id: lastId, text };
    setNotices((before) => [...before, notice]);
    setTimeout(() => setNotices((before) => before.filter(({ id }) => id !== notice.id)), SHOWN_MS);
  }, []);
  const value = useMemo(() => ({ tell }), [tell]);
  return (
    <NoticesContext value={value}>
      {children}
      <div role="status" className="pointer-events-none fixed inset-x-0 bottom-4 z-50 flex flex-col items-center gap-2">
        {notices.map(({ id, text }) => (
          <p key={id} className="rounded-control bg-text px-3 py-2 text-bg">
            {text}
          </p>
        ))}
      </div>
    </NoticesContext>
  );
}
