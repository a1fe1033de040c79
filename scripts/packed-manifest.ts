/**
 * Takes the scripts out of package.json while `npm pack` reads it: they need the sources, and npm warns whoever installs a package with
 * `prepare`. `--restore` puts the whole one back.
 */
import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

const MANIFEST = 'package.json';
const WHOLE = 'package.json.whole';

// An interrupted `npm pack` leaves it.
if (existsSync(WHOLE)) renameSync(WHOLE, MANIFEST);
if (process.argv[2] !== '--restore') {
  copyFileSync(MANIFEST, WHOLE);
  // Our package.json.
  const { scripts: _, ...kept } = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { readonly scripts?: unknown };
  writeFileSync(MANIFEST, `${JSON.stringify(kept, null, 2)}\n`);
}
