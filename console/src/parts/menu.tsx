import * as Radix from '@radix-ui/react-dropdown-menu';
import type { ReactNode } from 'react';
import { Icon } from './icons.tsx';

interface MenuItem {
  readonly label: string;
  readonly tone?: 'danger';
  readonly checked?: boolean;
  onSelect(): void;
}

interface MenuProps {
  readonly trigger: ReactNode;
  readonly items: readonly MenuItem[];
  readonly align?: 'start' | 'end';
}

/** A list of actions behind a button. */
export function Menu({ trigger, items, align = 'end' }: MenuProps): ReactNode {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align={align}
          sideOffset={4}
          className="z-50 max-h-80 max-w-[calc(100vw-16px)] min-w-40 overflow-y-auto rounded-control border border-line-strong bg-panel p-1"
        >
          {items.map(({ label, tone, checked, onSelect }) => (
            <Radix.Item
              key={label}
              onSelect={onSelect}
              className={`flex h-7 cursor-pointer items-center justify-between gap-4 rounded-chip px-2 outline-none data-highlighted:bg-raised ${tone === 'danger' ? 'text-error' : ''}`}
            >
              <span className="truncate">{label}</span>
              {checked === true ? <Icon name="check" size={12} /> : null}
              {checked === true ? <span className="sr-only">chosen</span> : null}
            </Radix.Item>
          ))}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
