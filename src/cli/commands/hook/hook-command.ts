import { runHook } from '../../../hosts/claude-code/hook-main.ts';
import { endProcess, readStdin } from '../../../hosts/claude-code/read-stdin.ts';

/** Runs `coxswain hook`, the same program as `dist/hook.cjs` without its fast start. Ends the process. */
export async function runHookCommand(): Promise<never> {
  if (process.env['COXSWAIN_DISABLE'] !== '1') await runHook(readStdin(), endProcess);
  return endProcess();
}
