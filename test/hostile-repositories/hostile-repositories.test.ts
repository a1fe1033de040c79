import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { thorough } from '../support/rounds.ts';
import { putHook } from '../support/built-hook.ts';
import { attack } from './attack.ts';
import { DATABASES } from './databases.ts';
import { FOLDER_LINKS } from './folder-links.ts';
import { CONFIGURATIONS } from './configurations.ts';
import { GIT_TRICKS } from './git-tricks.ts';
import { OLD_RECORDS } from './old-records.ts';
import { ODD_FILES } from './odd-files.ts';
import { PLACES } from './places.ts';
import { SETTINGS } from './settings.ts';
import { SHIPPED_STATE } from './shipped-state.ts';
import { Sandbox } from './sandbox.ts';
import type { Step, Trick } from './trick.ts';

/** Families of tricks, and what is done with each of a family besides what it asks for. */
const FAMILIES: readonly (readonly [name: string, tricks: readonly Trick[], also?: readonly Step[]])[] = [
  ['links', FOLDER_LINKS],
  ['special files', ODD_FILES],
  ['state that it ships', SHIPPED_STATE],
  ['records of an earlier version', OLD_RECORDS],
  ['stores that it ships', DATABASES],
  ['git', GIT_TRICKS],
  ['settings of Claude Code', SETTINGS],
  ['names and places', PLACES],
  ['its configuration', CONFIGURATIONS, [['config', 'check'], ['config', 'show'], ['status']]],
];

const built = mkdtempSync(join(tmpdir(), 'coxswain-test-'));
beforeAll(() => putHook(built));
afterAll(() => rmSync(built, { recursive: true, force: true }));

/** `npm test` plays the first trick of these families, `npm run test:faults` all tricks of all. */
const SHORT = new Set(['links', 'stores that it ships', 'git', 'its configuration']);

for (const [family, tricks, also = []] of FAMILIES) {
  if (!thorough && !SHORT.has(family)) continue;
  describe.concurrent(`a hostile repository: ${family}`, () => {
    for (const trick of thorough ? tricks : tricks.slice(0, 1)) {
      test(`nothing runs, leaks or is lost in a repository with ${trick.name}`, async ({ onTestFinished }) => {
        const place = new Sandbox(built);
        onTestFinished(() => place.dispose());
        const hookFile = join(built, 'hook.cjs');
        const endWithTest = (child: ChildProcess): void => onTestFinished(() => void child.kill('SIGKILL'));
        const found = await attack(trick, place, { hookFile, endWithTest, also });
        expect(found).toEqual([]);
      });
    }
  });
}
