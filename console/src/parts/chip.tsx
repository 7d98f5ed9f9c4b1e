import type { ReactNode } from 'react';

export type Tone = 'good' | 'warning' | 'error' | 'neutral';

const TONES: Readonly<Record<Tone, string>> = {
  good: 'bg-accent-soft text-accent',
  warning: 'bg-warning-soft text-warning',
  error: 'bg-error-soft text-error',
  neutral: 'bg-raised text-muted',
};

export function Chip({
  tone = 'neutral',
  title,
  children,
}: {
  readonly tone?: Tone;
  readonly title?: string;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <span
      title={title}
      className={`inline-flex items-center rounded-chip px-1.5 text-small leading-5 font-medium whitespace-nowrap ${TONES[tone]}`}
    >
      {children}
    </span>
  );
}

/** The HTTP status of a call. The number says what the colour does. */
export function StatusChip({ status }: { readonly status: number | null }): ReactNode {
  if (status === null) return <Chip>open</Chip>;
  const tone = status < 400 ? 'good' : status >= 500 || status === 429 ? 'warning' : 'error';
  return <Chip tone={tone}>{status}</Chip>;
}
