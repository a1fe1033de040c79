import type { ChildProcess } from 'node:child_process';
import { onTestFinished } from 'vitest';

/** Ends a process with the running test, also when the test fails or runs into its time limit. Only for use inside a test. */
export function endWithTest(child: ChildProcess): void {
  onTestFinished(() => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
  });
}
