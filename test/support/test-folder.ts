import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished, TestRunner } from 'vitest';

/** A new empty folder, deleted after the running test, or after the test file if it is created outside of a test. */
export function testFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'coxswain-test-'));
  const remove = (): void => rmSync(path, { recursive: true, force: true });
  if (TestRunner.getCurrentTest() === undefined) afterAll(remove);
  else onTestFinished(remove);
  return path;
}
