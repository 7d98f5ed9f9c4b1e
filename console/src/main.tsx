import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { takeInvitationFromAddress } from './api/invitation-secret.ts';
import { followPersonOfOtherTabs } from './api/me.ts';
import { createQueryClient } from './api/queries.ts';
import { returnToAddress } from './api/return-address.ts';
import { answerOtherTabs, takeTokenFromAddress } from './api/session.ts';
import { showCutTexts } from './parts/cut-text.ts';
import { router } from './router.tsx';
import { applyTheme } from './shell/theme.ts';
import './styles.css';

applyTheme();
takeTokenFromAddress();
takeInvitationFromAddress();
returnToAddress();
// A link opened in a tab that shows the console already changes only the fragment, which loads nothing.
window.addEventListener('hashchange', () => {
  if (takeTokenFromAddress() || takeInvitationFromAddress()) location.reload();
});
answerOtherTabs();
showCutTexts();
const client = createQueryClient();
// Radix adds a style element while a dialog is open, which the content security policy allows only with the page's nonce.
setNonce(document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '');

const root = createRoot(document.getElementById('root')!);
followPersonOfOtherTabs(client, () => {
  // First of all nothing is left: where a secret is shown, the browser asks before it loads a page again.
  root.unmount();
  location.reload();
});
root.render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
