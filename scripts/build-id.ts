import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';

/** Changes with the code. */
export function buildId(): string {
  const hash = createHash('sha256');
  for (const path of ['package.json', ...globSync('src/**/*.ts').toSorted()]) hash.update(readFileSync(path));
  return hash.digest('hex').slice(0, 16);
}
