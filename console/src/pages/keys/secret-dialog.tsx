import type { ReactNode } from 'react';
import { OnceDialog } from '../../parts/once-dialog.tsx';
import { useGatewayUrl, useTrialModel } from '../../snippets/gateway.ts';
import { SnippetTabs } from '../../snippets/snippet-tabs.tsx';
import { UnknownModels } from './unknown-models.tsx';

interface SecretDialogProps {
  readonly title: string;
  readonly secret: string;
  readonly minted: { readonly name: string; readonly unknown_models?: readonly string[] };
  readonly note?: string;
  onClose(): void;
}

/** The only place where the secret of a key is ever shown. It is gone when the dialog is closed. */
export function SecretDialog({ title, secret, minted, note, onClose }: SecretDialogProps): ReactNode {
  const url = useGatewayUrl();
  const model = useTrialModel();
  const more = (
    <>
      <UnknownModels names={minted.unknown_models ?? []} />
      <SnippetTabs url={url} model={model?.id ?? 'MODEL'} secret={secret} />
    </>
  );
  return (
    <OnceDialog title={title} secret={secret} width="large" more={more} onClose={onClose}>
      This is the secret of “{minted.name}”. Copy it now: it is shown only here, and nobody can show it again. {note}
    </OnceDialog>
  );
}
