import type { ReactNode } from 'react';
import type { SealStatus } from '../../api/generated/routes.ts';
import { useApi } from '../../api/queries.ts';
import { Chip, type Tone } from '../../parts/chip.tsx';
import { FormError } from '../../parts/error-panel.tsx';
import { type Fact, Facts } from '../../parts/facts.tsx';
import { formatCount } from '../../parts/money-format.ts';
import { Panel } from '../../parts/panel.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';

/** The master keys that encrypt stored secrets, and whether everything can be decrypted. */
export function SealPanel(): ReactNode {
  const seals = useApi('GET /system/seal', {}, { staleMs: 60_000 });
  return (
    <Panel title="Stored secrets">
      <div className="flex flex-col gap-3 px-4 pb-4">
        <FormError error={seals.error} />
        {seals.data === undefined && seals.error === null ? <Skeleton className="h-24 w-full" /> : null}
        {seals.data === undefined ? null : <Seals seals={seals.data} />}
      </div>
    </Panel>
  );
}

const USES: Readonly<Record<SealStatus['keys'][number]['use'], { readonly text: string; readonly tone: Tone }>> = {
  seals: { text: 'encrypts', tone: 'good' },
  opens: { text: 'only decrypts', tone: 'neutral' },
  unknown: { text: 'missing', tone: 'error' },
};

function Seals({ seals }: { readonly seals: SealStatus }): ReactNode {
  return (
    <>
      <p className="flex items-center gap-2">
        <Chip tone={seals.unreadable === 0 ? 'good' : 'error'}>
          {seals.unreadable === 0 ? 'all can be decrypted' : `${formatCount(seals.unreadable)} cannot be decrypted`}
        </Chip>
        <span className="text-muted">{formatCount(seals.rows)} encrypted</span>
      </p>
      <Facts
        facts={[
          ['Master key', seals.source],
          ...seals.keys.map(
            ({ id, use, rows }): Fact => [
              id,
              <span key={id} className="flex items-center gap-2">
                <Chip tone={USES[use].tone}>{USES[use].text}</Chip>
                {formatCount(rows)} of them
              </span>,
            ],
          ),
        ]}
      />
    </>
  );
}
