import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** Where `npx vite console` finds a gateway. */
const GATEWAY = 'http://127.0.0.1:8080';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: '/console/',
  plugins: [react(), tailwindcss()],
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    target: 'es2023',
    // Data URLs would need an exception in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  server: { proxy: { '/manage': GATEWAY, '/v1': GATEWAY } },
});
