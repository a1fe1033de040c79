import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect } from 'vitest';

import { tempFolder } from './support/temp-folder.ts';
import { runCli, sampleRun } from './run-cli.ts';
import type { CliOptions, CliResult } from './run-cli.ts';

/** A separate folder for each test of a file, with two runs to record: `alpha`, and `beta` of 300 calls. */
export interface StoresFolder {
  readonly cwd: string;
  /** Runs the command line in the folder. */
  readonly run: (args: readonly string[], options?: Omit<CliOptions, 'cwd'>) => Promise<CliResult>;
  /** Records both runs into a store. The first new file is copied for the other tests. */
  readonly recorded: (store: string) => Promise<void>;
  /** All records of a store, one a line. */
  readonly exported: (store: string) => Promise<string>;
}

/** Makes the folder before each test of the file and deletes it after; call it once, outside of tests. */
export function useStoresFolder(): StoresFolder {
  let folder: Awaited<ReturnType<typeof tempFolder>> | undefined;
  let first: Awaited<ReturnType<typeof tempFolder>> | undefined;

  beforeEach(async () => {
    folder = await tempFolder();
    await writeFile(join(folder.path, 'a.json'), sampleRun('alpha', 'stuck'));
    await writeFile(join(folder.path, 'b.json'), sampleRun('beta', 'fine', 300));
  });
  afterAll(() => first?.dispose());
  afterEach(async () => {
    await folder?.dispose();
    folder = undefined;
  });

  const cwd = (): string => {
    if (folder === undefined) throw new Error('there is a folder only while a test runs');
    return folder.path;
  };
  const run: StoresFolder['run'] = (args, options = {}) => runCli(args, { ...options, cwd: cwd() });

  return {
    get cwd(): string {
      return cwd();
    },
    run,
    async recorded(store): Promise<void> {
      const [file, isNewFile] = [join(cwd(), store), store.endsWith('.db') && !existsSync(join(cwd(), store))];
      if (isNewFile && first !== undefined) {
        await mkdir(dirname(file), { recursive: true });
        return copyFile(join(first.path, 'runs.db'), file);
      }
      const { code, stderr } = await run(['analyze', 'a.json', 'b.json', '--summary', '--store', store]);
      expect([code, stderr]).toEqual([0, '']);
      if (!isNewFile) return;
      first = await tempFolder();
      await copyFile(file, join(first.path, 'runs.db'));
    },
    async exported(store): Promise<string> {
      return (await run(['export', '--store', store])).stdout;
    },
  };
}
