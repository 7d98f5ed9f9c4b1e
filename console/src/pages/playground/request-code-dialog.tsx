import { type ReactNode, useState } from 'react';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Segmented } from '../../parts/segmented.tsx';
import { isLocalMode, useGatewayUrl } from '../../snippets/gateway.ts';
import { CODE_CHOICES, type CodeLanguage, requestCode } from './request-code.ts';
import type { Wire } from './wire.ts';

interface RequestCodeProps {
  readonly wire: Wire;
  readonly body: Readonly<Record<string, unknown>>;
  onClose(): void;
}

/** The next request, as somebody would send it from a terminal or a program. */
export function RequestCodeDialog({ wire, body, onClose }: RequestCodeProps): ReactNode {
  const url = useGatewayUrl();
  const [language, setLanguage] = useState<CodeLanguage>('curl');
  return (
    <Dialog title="The request as code" width="large" onClose={onClose}>
      <div className="flex flex-col gap-3">
        <Segmented label="Language" value={language} choices={CODE_CHOICES} onChange={(value) => setLanguage(value)} />
        <CodeBlock text={requestCode(language, { url, wire, body, needsKey: !isLocalMode() })} label="Copy the code" />
        {isLocalMode() ? (
          <p className="text-small text-muted">On this machine calls work without a key.</p>
        ) : (
          <p className="text-small text-muted">Put the secret of a key into TOLLGATE_API_KEY first.</p>
        )}
      </div>
    </Dialog>
  );
}
