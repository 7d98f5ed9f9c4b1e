import type { ReactNode } from 'react';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useGatewayUrl, useTrialModel } from '../../snippets/gateway.ts';
import { SnippetTabs } from '../../snippets/snippet-tabs.tsx';

interface SecretDialogProps {
  readonly title: string;
  readonly secret: string;
  readonly minted: { readonly name: string; readonly unknown_models?: readonly string[] };
  readonly note?: string;
  onClose(): void;
}

/** The only place where a secret is ever shown. It is gone when the dialog is closed. */
export function SecretDialog({ title, secret, minted, note, onClose }: SecretDialogProps): ReactNode {
  const url = useGatewayUrl();
  const model = useTrialModel();
  const unknown = minted.unknown_models ?? [];
  return (
    <Dialog title={title} width="large" closesOutside={false} onClose={onClose}>
      <div className="flex flex-col gap-4">
        <p className="text-muted">
          This is the secret of “{minted.name}”. Copy it now: it is shown only here, and nobody can show it again.{' '}
          {note}
        </p>
        <div className="flex items-center gap-2 rounded-control border border-accent bg-accent-soft py-2 pr-2 pl-3">
          <code data-secret className="min-w-0 flex-1 font-mono text-small break-all">
            {secret}
          </code>
          <CopyButton text={secret} label="Copy secret" />
        </div>
        {unknown.length === 0 ? null : (
          <p className="rounded-control bg-warning-soft px-3 py-2 text-warning">
            No model has these names now: {unknown.join(', ')}. They are kept, because a model may be added later.
          </p>
        )}
        <SnippetTabs url={url} model={model?.id ?? 'MODEL'} secret={secret} />
        <div className="flex justify-end">
          <Button tone="primary" onClick={onClose}>
            I have copied it
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
