import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new empty folder for a test; `dispose` deletes it with all that is in it. */
export async function tempFolder(): Promise<{ readonly path: string; dispose(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'coxswain-test-'));
  return { path, dispose: () => rm(path, { recursive: true, force: true }) };
}
