import type { ReactNode } from 'react';
import { useWindowTitle } from '../../parts/window-title.ts';
import { Logo } from '../../shell/sidebar.tsx';

/** The frame of the pages that people see before they are signed in. */
export function SignInFrame({ title, children }: { readonly title: string; readonly children: ReactNode }): ReactNode {
  useWindowTitle('page', title);
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-[392px] flex-col justify-center gap-6 px-4 py-10">
      <Logo />
      <div className="flex flex-col gap-4 rounded-panel border border-line bg-panel p-6">
        <h1 className="text-title font-semibold">{title}</h1>
        {children}
      </div>
    </main>
  );
}
