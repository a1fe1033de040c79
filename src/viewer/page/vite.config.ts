import { fileURLToPath } from 'node:url';

import react from '@vitejs/plugin-react';
import { defineConfig, type UserConfig } from 'vite';

const pathFromHere = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const config: UserConfig = defineConfig({
  root: pathFromHere('.'),
  base: '/',
  publicDir: false,
  plugins: [react()],
  build: {
    outDir: pathFromHere('../../../dist/viewer'),
    emptyOutDir: false,
    // Inlined data would need a less strict Content-Security-Policy.
    assetsInlineLimit: 0,
    // The polyfill would be an inline script.
    modulePreload: { polyfill: false },
    target: 'es2023',
  },
});

export default config;
