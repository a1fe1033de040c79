import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';

import { rolldown, type Plugin } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';

/** The entry points of the package, as paths in `src` without extension. */
export function entryPoints(): readonly string[] {
  // Our package.json has this shape.
  const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  };
  return Object.values(exports).flatMap((target) =>
    typeof target === 'string' ? [] : [target.default.replace('./dist/', '').replace('.js', '')],
  );
}

/** An import without names has no meaning in a declaration, and names a package that is built into the product. */
const withoutBareImports: Plugin = {
  name: 'without bare imports',
  generateBundle(_, bundle) {
    for (const output of Object.values(bundle)) {
      if (output.type === 'chunk') output.code = output.code.replaceAll(/^import ['"][\w@][^'"]*['"];\n/gm, '');
    }
  },
};

/** Writes one declaration file per entry point to `folder`, and the declarations that they share to `chunks/types.d.ts`. */
export async function bundleTypes(folder: string): Promise<void> {
  const bundle = await rolldown({
    input: Object.fromEntries(entryPoints().map((name) => [name, `src/${name}.ts`])),
    platform: 'node',
    external: (id) => /^[\w@]/.test(id),
    checks: { ineffectiveDynamicImport: false },
    plugins: [
      dts({ generator: 'oxc', oxc: { stripInternal: true }, emitDtsOnly: true, sourcemap: false }),
      withoutBareImports,
    ],
  });
  await bundle.write({
    format: 'esm',
    dir: folder,
    entryFileNames: ({ name, facadeModuleId }) =>
      name.endsWith('.d') ? relative(resolve('src'), facadeModuleId ?? '') : '[name].js',
    chunkFileNames: 'chunks/[name].js',
    minifyInternalExports: false,
    codeSplitting: { groups: [{ name: 'types.d', test: /\.d\.ts$/, minShareCount: 2 }] },
  });
}
