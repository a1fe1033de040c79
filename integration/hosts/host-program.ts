import { spawn } from 'node:child_process';

export interface HostProgram {
  /** Ends the program and all that it started. Does nothing after its end. */
  readonly kill: () => void;
  readonly ended: Promise<void>;
}

const LIMIT_MS = 120_000;

/** Starts a program without input in a process group of its own. After two minutes it is killed. */
export function startProgram(
  program: string,
  args: readonly string[],
  place: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): HostProgram {
  const child = spawn(program, args, { ...place, stdio: 'ignore', detached: true });
  const kill = (): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGKILL');
  };
  const timer = setTimeout(kill, LIMIT_MS);
  const ended = new Promise<void>((resolve) => void child.on('close', () => resolve())).finally(() =>
    clearTimeout(timer),
  );
  return { kill, ended };
}
