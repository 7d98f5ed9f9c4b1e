import { type ReactNode, useEffect, useState } from 'react';
import { Button } from './button.tsx';
import { IconButton } from './icon-button.tsx';
import { useNotices } from './notices.tsx';

const SHOWN_MS = 1_500;

function useCopy(text: string): { readonly isCopied: boolean; copy(): void } {
  const [isCopied, setCopied] = useState(false);
  const { tellFailure } = useNotices();
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = async (): Promise<void> => {
    try {
      // Browsers have no clipboard for pages of another machine without https.
      await navigator.clipboard.writeText(text);
      setCopied(true);
    } catch {
      tellFailure('The browser did not allow copying. Select the text and copy it.');
    }
  };
  return { isCopied, copy: () => void copy() };
}

export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }): ReactNode {
  const { isCopied, copy } = useCopy(text);
  return <Button onClick={copy}>{isCopied ? 'Copied' : label}</Button>;
}

/** A small button beside an id. */
export function CopyIcon({ text, label }: { readonly text: string; readonly label: string }): ReactNode {
  const { isCopied, copy } = useCopy(text);
  return (
    <IconButton
      icon={isCopied ? 'check' : 'copy'}
      label={isCopied ? 'Copied' : label}
      onClick={copy}
      className="-my-1 !size-6"
    />
  );
}

/** Lines to copy as they are. */
export function CodeBlock({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }): ReactNode {
  const { isCopied, copy } = useCopy(text);
  return (
    <div className="flex min-w-0 items-start rounded-control border border-line bg-bg">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <pre tabIndex={0} className="min-w-0 flex-1 overflow-x-auto px-3 py-2.5 font-mono text-small leading-5">
        {text}
      </pre>
      {/* Beside the lines and not over them, which would hide the end of the first one where they are scrolled. */}
      <IconButton
        icon={isCopied ? 'check' : 'copy'}
        label={isCopied ? 'Copied' : label}
        onClick={copy}
        className="m-1.5 ml-0"
      />
    </div>
  );
}
