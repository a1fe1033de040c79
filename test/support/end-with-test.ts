import type { ChildProcess } from 'node:child_process';
import { onTestFinished, TestRunner } from 'vitest';

/**
 * Ends a process with the running test, also when the test fails or runs into its time limit; one that a hook such as `beforeAll`
 * starts, with the test file.
 */
export function endWithTest(child: ChildProcess): void {
  const end = (): void => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  };
  if (TestRunner.getCurrentTest() === undefined) process.once('exit', end);
  else onTestFinished(end);
}
