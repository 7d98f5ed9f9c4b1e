import type { ReactNode } from 'react';
import type { ApiError } from '../api/client.ts';
import { Button } from './button.tsx';
import { Drawer } from './drawer.tsx';
import { EmptyState } from './empty-state.tsx';

interface MissingDrawerProps {
  /** What was to be opened, like `Host`. */
  readonly title: string;
  /** What is not there, in a few words. */
  readonly missing: string;
  /** What the list behind the drawer has, like `hosts`. */
  readonly list: string;
  /** Why it may not be there. */
  readonly children: ReactNode;
  onClose(): void;
}

/** For an address that opens something which is not there: a link may be old, or be mistyped. */
export function MissingDrawer({ title, missing, list, children, onClose }: MissingDrawerProps): ReactNode {
  return (
    <Drawer title={title} onClose={onClose}>
      <EmptyState title={missing} action={<Button onClick={onClose}>Go to {list}</Button>}>
        {children}
      </EmptyState>
    </Drawer>
  );
}

const NO_ID = 400;
const NOT_FOUND = 404;

/** Whether what was read by its id is not there, or nothing can have such an id: trying again would not help. */
export function isMissing(error: ApiError | null): boolean {
  return error?.status === NOT_FOUND || error?.status === NO_ID;
}
