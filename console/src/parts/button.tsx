import type { ButtonHTMLAttributes, MouseEvent, ReactNode } from 'react';

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
  children,
  className,
  onClick,
  ...rest
}: ButtonProps): ReactNode {
  return (
    <button
      type="button"
      {...rest}
      // A button that is disabled loses the focus, and a refusal would leave the keyboard nowhere.
      aria-disabled={busy || undefined}
      aria-busy={busy}
      onClick={busy ? ignore : onClick}
      className={`inline-flex h-7 shrink-0 items-center justify-center gap-1.5 rounded-control border px-2.5 text-body whitespace-nowrap disabled:opacity-50 aria-disabled:opacity-50 ${TONES[tone]} ${className ?? ''}`}
    >
      {children}
    </button>
  );
}

/** Enter in a field presses the button of its form too. */
function ignore(event: MouseEvent): void {
  event.preventDefault();
}
