import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * The URL of an entry point for a process of a test, as `scripts/test-programs.ts` bundled it: an import takes a quarter of the time that
 * it takes from source.
 *
 * @param entry  path below `src` without extension, such as `stores/sqlite/sqlite-store`
 */
export function builtModule(entry: string): string {
  const built = process.env['COXSWAIN_BUILT'];
  return built === undefined
    ? new URL(`../../src/${entry}.ts`, import.meta.url).href
    : pathToFileURL(join(built, `${entry}.js`)).href;
}
