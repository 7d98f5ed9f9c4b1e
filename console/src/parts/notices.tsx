import { useFocusScopeBranch } from '@radix-ui/react-focus-scope';
import { createContext, type ReactNode, use, useCallback, useMemo, useRef, useState } from 'react';
import { IconButton } from './icon-button.tsx';
import { focusAfterNotice, tabThroughNotices } from './notice-focus.ts';

const SHOWN_MS = 5_000;

interface Notices {
  /** Briefly says what the server has done. */
  tell(text: string): void;
  /** Says what went wrong, until somebody dismisses it: who looked elsewhere would take it for done. */
  tellFailure(text: string): void;
}

const NoticesContext = createContext<Notices>({ tell: () => undefined, tellFailure: () => undefined });

export function useNotices(): Notices {
  return use(NoticesContext);
}

/** Where notices are, so that a dialog can let the focus go there. */
const PlaceContext = createContext<HTMLElement | null>(null);

/** Stands in a dialog, which takes back the focus from everything else. */
export function NoticesInReach(): ReactNode {
  useFocusScopeBranch(use(PlaceContext));
  return null;
}

interface Notice {
  readonly id: number;
  readonly text: string;
}

let lastId = 0;

export function NoticesProvider({ children }: { readonly children: ReactNode }): ReactNode {
  const done = useNoticeList();
  const failed = useNoticeList();
  const [place, setPlace] = useState<HTMLElement | null>(null);
  const value = useMemo(
    () => ({
      tell: (text: string) => {
        const id = done.add(text);
        setTimeout(() => done.remove(id), SHOWN_MS);
      },
      tellFailure: (text: string) => void failed.add(text),
    }),
    [done.add, done.remove, failed.add],
  );
  return (
    <NoticesContext value={value}>
      <PlaceContext value={place}>{children}</PlaceContext>
      <div
        ref={setPlace}
        className="pointer-events-none fixed inset-x-0 bottom-4 z-50 flex flex-col items-center gap-2 px-4"
      >
        {/* What has aria-live is read out even while a dialog hides the rest of the page. */}
        <div aria-live="assertive" className="flex max-w-full flex-col items-center gap-2">
          {failed.notices.map(({ id, text }) => (
            <Failure key={id} text={text} onDismiss={() => failed.remove(id)} />
          ))}
        </div>
        <div role="status" aria-live="polite" className="flex max-w-full flex-col items-center gap-2">
          {done.notices.map(({ id, text }) => (
            <p key={id} className="rounded-control bg-text px-3 py-2 text-bg">
              {text}
            </p>
          ))}
        </div>
      </div>
    </NoticesContext>
  );
}

function Failure({ text, onDismiss }: { readonly text: string; onDismiss(): void }): ReactNode {
  const before = useRef<Element>(null);
  const dismiss = (): void => {
    focusAfterNotice(before.current);
    onDismiss();
  };
  return (
    <div
      data-notice
      className="pointer-events-auto flex max-w-xl items-start gap-2 rounded-control border border-line-strong bg-panel py-1 pr-1 pl-3 text-error shadow-drawer"
    >
      <p className="min-w-0 py-1 wrap-anywhere">{text}</p>
      <IconButton
        icon="close"
        label="Dismiss"
        onFocus={({ relatedTarget }) => (before.current = relatedTarget)}
        onKeyDown={tabThroughNotices}
        onClick={dismiss}
      />
    </div>
  );
}

interface NoticeList {
  readonly notices: readonly Notice[];
  add(text: string): number;
  remove(id: number): void;
}

/** A text that is there already moves to the end, so that trying again and again does not fill the page. */
function useNoticeList(): NoticeList {
  const [notices, setNotices] = useState<readonly Notice[]>([]);
  const add = useCallback((text: string) => {
    lastId += 1;
    const notice = { id: lastId, text };
    setNotices((before) => [...before.filter((each) => each.text !== text), notice]);
    return notice.id;
  }, []);
  const remove = useCallback((id: number) => setNotices((before) => before.filter((each) => each.id !== id)), []);
  return { notices, add, remove };
}

/** Whether something happened in a notice, which belongs to no dialog. The notice may be gone from the page by now. */
export function isInNotice({ target }: Event): boolean {
  return target instanceof Element && target.closest('[data-notice]') !== null;
}
