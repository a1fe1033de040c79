import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGE = 'src/viewer/page';

/**
 * Writes the viewer's page to a folder: `index.html`, and in `assets` one script and one style sheet. A run that is shared as a
 * file contains both, so the script imports nothing and has no `<!--`, after which a browser would miss the script's end.
 *
 * @returns the paths of the bundled modules
 */
export async function buildPage(folder: string): Promise<readonly string[]> {
  const { metafile, outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [`${PAGE}/main.tsx`, `${PAGE}/style.css`],
    outdir: join(folder, 'assets'),
    entryNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2023',
    define: { 'process.env.NODE_ENV': '"production"' },
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
    write: false,
  });
  mkdirSync(join(folder, 'assets'), { recursive: true });
  let page = readFileSync(join(ROOT, PAGE, 'index.html'), 'utf8');
  for (const { path, text } of outputFiles) {
    writeFileSync(path, path.endsWith('.js') ? text.replaceAll('<!--', String.raw`\x3c!--`) : text);
    const source = path.endsWith('.js') ? './main.tsx' : './style.css';
    page = page.replace(source, `/assets/${basename(path)}`);
  }
  writeFileSync(join(folder, 'index.html'), page);
  return Object.keys(metafile.inputs);
}
