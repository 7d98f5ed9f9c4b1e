import type { ReactNode } from 'react';
import { Drawer } from './drawer.tsx';
import { EmptyState } from './empty-state.tsx';

interface MissingDrawerProps {
  /** What was to be opened, like `Host`. */
  readonly title: string;
  /** Why it is not here. */
  readonly children: ReactNode;
  onClose(): void;
}

/** For an address that opens something which is not there: a link may be old, or be mistyped. */
export function MissingDrawer({ title, children, onClose }: MissingDrawerProps): ReactNode {
  return (
    <Drawer title={title} onClose={onClose}>
      <EmptyState title="Nothing to open">{children}</EmptyState>
    </Drawer>
  );
}
