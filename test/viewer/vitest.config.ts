import { mergeConfig, type ViteUserConfig } from 'vitest/config';

import base from '../../vitest.config.ts';

/** `npm run test:browser`: the viewer in a real Chromium. */
const config: ViteUserConfig = mergeConfig(
  { ...base, test: { ...base.test, include: [], exclude: [], projects: undefined } },
  {
    test: { include: ['test/viewer/*.test.ts'] },
  },
);

export default config;
