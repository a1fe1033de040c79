import { mergeConfig, type ViteUserConfig } from 'vitest/config';

import base from '../vitest.config.ts';

/**
 * `npm run test:faults`: killed processes, power cuts, damaged stores, hostile repositories and recorded corpora in full.
 * `npm test` runs the same files with few rounds each (`support/rounds.ts`).
 */
const config: ViteUserConfig = mergeConfig(
  { ...base, test: { ...base.test, include: [], projects: undefined } },
  {
    test: {
      env: { COXSWAIN_FAULTS: 'full' },
      include: [
        'src/core/detect/patterns/trajectory-analysis.test.ts',
        'src/formats/reading/decompress.test.ts',
        'src/lab/{backtest,measure-effect,sweep-replay}.test.ts',
        'src/**/sqlite-{crash,delete-run,power-loss,processes}.test.ts',
        'test/hostile-repositories/*.test.ts',
        'test/{backtest-queue,endings,hook-lines,hook-spills,watch-killed,live-equals-replay,long-names,lost-records,package,postgres,postgres-faults,postgres-replication,store-mutations}.test.ts',
      ],
    },
  },
);

export default config;
