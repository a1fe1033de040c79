/**
 * Bundles `src` to `dist`: JavaScript and declarations as one file per entry point with shared chunks. Programs that start often get
 * separate bundles: Claude Code's hook (`hook.cjs`, `hook-main.cjs`, also as a `plugin`), `coxswain status` (`status.cjs`), and what keeps
 * compiled code (`compile-cache.cjs`). The viewer's page goes to `viewer/index.html` and `viewer/assets`, licences and SBOM of bundled
 * packages to `THIRD-PARTY-NOTICES.txt` and `sbom.cdx.json`, and the generated schemas of records and configuration to `schema`.
 */
import { chmodSync, rmSync } from 'node:fs';

import { buildPage } from './build-page.ts';
import { buildPlugin } from './build-plugin.ts';
import { buildPrograms } from './build-programs.ts';
import { bundleTypes } from './bundle-types.ts';
import { writeBundledPackages } from './bundled-packages.ts';
import { writeSchemas } from './write-schemas.ts';

rmSync('dist', { recursive: true, force: true });
writeSchemas();
await bundleTypes('dist');
const bundled = new Set<string>();
await buildPrograms('dist', bundled);
chmodSync('dist/cli/bin.js', 0o755);
await buildPlugin('dist');
for (const module of await buildPage('dist/viewer')) bundled.add(module);
writeBundledPackages('dist', bundled);
