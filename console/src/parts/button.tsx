import type { ButtonHTMLAttributes, ReactNode } from 'react';

type Tone = 'primary' | 'plain' | 'danger' | 'quiet';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly tone?: Tone;
  /** Shows that the work goes on; the button cannot be pressed meanwhile. */
  readonly busy?: boolean;
}

const TONES: Readonly<Record<Tone, string>> = {
  primary: 'bg-accent text-on-accent border-transparent hover:opacity-90 font-semibold',
  plain: 'bg-panel text-text border-line-strong hover:bg-raised font-medium',
  danger: 'bg-panel text-error border-line-strong hover:bg-error-soft font-medium',
  quiet: 'bg-transparent text-muted border-transparent hover:bg-raised hover:text-text font-medium',
};

export function Button({
  tone = 'plain',
  busy = false,
  disabled,
  children,
  className,
  ...rest
}: ButtonProps): ReactNode {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled === true || busy}
      aria-busy={busy}
      className={`inline-flex h-7 shrink-0 items-center justify-center gap-1.5 rounded-control border px-2.5 text-body whitespace-nowrap disabled:opacity-50 ${TONES[tone]} ${className ?? ''}`}
    >
      {children}
    </button>
  );
}
