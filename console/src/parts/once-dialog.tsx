import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { CopyButton } from './copy.tsx';
import { Dialog } from './dialog.tsx';

interface OnceDialogProps {
  readonly title: string;
  /** A secret, or a link with one. */
  readonly secret: string;
  /** What it is for. */
  readonly children: ReactNode;
  readonly copyLabel?: string;
  onClose(): void;
}

/** Shows what cannot be shown again. A click beside it does not close it. */
export function OnceDialog({
  title,
  secret,
  children,
  copyLabel = 'Copy secret',
  onClose,
}: OnceDialogProps): ReactNode {
  return (
    <Dialog title={title} closesOutside={false} onClose={onClose}>
      <div className="flex flex-col gap-4">
        <div className="text-muted">{children}</div>
        <div className="flex items-center gap-2 rounded-control border border-accent bg-accent-soft py-2 pr-2 pl-3">
          <code data-secret className="min-w-0 flex-1 font-mono text-small break-all">
            {secret}
          </code>
          <CopyButton text={secret} label={copyLabel} />
        </div>
        <div className="flex justify-end">
          <Button tone="primary" onClick={onClose}>
            I have copied it
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
