import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';

const hash = createHash('sha256');
for (const path of ['package.json', ...globSync('src/**/*.ts').toSorted()]) hash.update(readFileSync(path));

/** Changes with the code. */
export const BUILD_ID: string = hash.digest('hex').slice(0, 16);
