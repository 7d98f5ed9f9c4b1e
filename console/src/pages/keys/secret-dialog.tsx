import type { ReactNode } from 'react';
import type { MintedKey } from '../../api/generated/routes.ts';
import { OnceDialog } from '../../parts/once-dialog.tsx';
import { useGatewayUrl, useMessagesModel, useTrialModel } from '../../snippets/gateway.ts';
import { SnippetTabs } from '../../snippets/snippet-tabs.tsx';
import { UnknownModels } from './unknown-models.tsx';

interface SecretDialogProps {
  readonly title: string;
  readonly secret: string;
  readonly minted: Pick<MintedKey, 'name' | 'models'> & Partial<Pick<MintedKey, 'unknown_models'>>;
  readonly note?: string;
  onClose(): void;
}

/** The only place where the secret of a key is ever shown. It is gone when the dialog is closed. */
export function SecretDialog({ title, secret, minted, note, onClose }: SecretDialogProps): ReactNode {
  const url = useGatewayUrl();
  const { models } = minted;
  const model = useTrialModel(models)?.id ?? models?.[0] ?? 'MODEL';
  const messagesModel = useMessagesModel(models)?.id ?? null;
  const more = (
    <>
      <UnknownModels names={minted.unknown_models ?? []} />
      <SnippetTabs url={url} model={model} messagesModel={messagesModel} secret={secret} />
    </>
  );
  return (
    <OnceDialog title={title} secret={secret} width="large" more={more} onClose={onClose}>
      This is the secret of “{minted.name}”. Copy it now: it is shown only here, and nobody can show it again. {note}
    </OnceDialog>
  );
}
