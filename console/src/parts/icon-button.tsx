import type { ButtonHTMLAttributes, ReactNode } from 'react';
import { Icon, type IconName } from './icons.tsx';

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly icon: IconName;
  /** What it does, for screen readers and on hover. */
  readonly label: string;
}

export function IconButton({ icon, label, className = '', ...rest }: IconButtonProps): ReactNode {
  return (
    <button
      type="button"
      title={label}
      aria-label={label}
      {...rest}
      className={`inline-flex size-7 shrink-0 items-center justify-center rounded-control text-muted hover:bg-raised hover:text-text disabled:opacity-40 ${className}`}
    >
      <Icon name={icon} />
    </button>
  );
}
