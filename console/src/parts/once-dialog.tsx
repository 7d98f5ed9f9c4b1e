import { useBlocker } from '@tanstack/react-router';
import { type ReactNode, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { CopyButton } from './copy.tsx';
import { Dialog } from './dialog.tsx';

interface OnceDialogProps {
  readonly title: string;
  /** A secret, or a link with one. */
  readonly secret: string;
  /** What it is for. */
  readonly children: ReactNode;
  /** Below the secret. */
  readonly more?: ReactNode;
  readonly copyLabel?: string;
  readonly width?: 'normal' | 'large';
  onClose(): void;
}

/**
 * Shows what cannot be shown again. Only its button closes it: not Esc, not a click beside it, not the browser's Back. It is not
 * printed, because printers and their queues keep what they print.
 */
export function OnceDialog(props: OnceDialogProps): ReactNode {
  const { title, secret, children, more = null, copyLabel = 'Copy secret', width = 'normal', onClose } = props;
  const [isWarned, setWarned] = useState(false);
  const isDone = useRef(false);
  const warn = (): void => setWarned(true);
  useBlocker({
    shouldBlockFn: () => {
      if (!isDone.current) warn();
      return !isDone.current;
    },
    enableBeforeUnload: () => !isDone.current,
  });
  const finish = (): void => {
    isDone.current = true;
    onClose();
  };
  return (
    <Dialog title={title} width={width} onAttempt={warn} onClose={onClose}>
      <div className="flex flex-col gap-4">
        <div className="text-muted">{children}</div>
        <p className="hidden print:block">It is not printed. Copy it from the screen.</p>
        <div className="flex items-center gap-2 rounded-control border border-accent bg-accent-soft py-2 pr-2 pl-3 print:hidden">
          <code data-secret className="min-w-0 flex-1 font-mono text-small break-all">
            {secret}
          </code>
          <CopyButton text={secret} label={copyLabel} />
        </div>
        <div className="contents print:hidden">{more}</div>
        {isWarned ? (
          <p role="alert" className="rounded-control bg-warning-soft px-3 py-2 text-warning">
            This cannot be shown again. Copy it first, then choose “I have copied it”.
          </p>
        ) : null}
        <div className="flex justify-end">
          <Button tone="primary" onClick={finish}>
            I have copied it
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
