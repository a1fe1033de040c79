#!/usr/bin/env node
import type * as CompileCache from './compile-cache.ts';
import type * as StatusMain from './commands/status/status-main.ts';

// Checks the Node version before any import. Uses only syntax that an old Node version can parse.
const [major = 0, minor = 0, patch = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && (minor < 23 || (minor === 23 && patch < 3)))) {
  process.stderr.write(
    'coxswain needs Node 22.23.3 or newer, this is v' +
      process.versions.node +
      '; install a newer one from https://nodejs.org, which hooks need too. For a single command: ' +
      'npx --package=node@24 --package=coxswain coxswain\n',
  );
  process.exitCode = 1;
} else {
  // Node 22 warns that its SQLite module is experimental, which does not help users. Hides this warning and passes others on
  // unchanged.
  const emitWarning = process.emitWarning.bind(process) as (...values: unknown[]) => void;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    if (!String(warning).startsWith('SQLite is an experimental')) emitWarning(warning, ...rest);
  };
  const [command, flag, template, ...more] = process.argv.slice(2);
  const isFormat = flag === '--format' && template !== undefined && more.length === 0;
  if (command === 'status' && (flag === undefined || isFormat || (flag === '--json' && template === undefined))) {
    // A status line runs this command every second, so the list of commands is not loaded.
    const options = isFormat ? { format: template } : { json: flag !== undefined };
    void statusMain().then((main) => main(options));
  } else if (command === 'watch' && flag === '--background' && process.env['COXSWAIN_IN_BACKGROUND'] === '1') {
    // The list of commands would cost the watch in the background five megabytes.
    void import('./commands/watch/watch-machine.ts').then(({ watchInBackground }) => watchInBackground());
  } else {
    // The bundle is built from the module of this type.
    const cache = bundleOf('compile-cache') as typeof CompileCache | undefined;
    if (cache !== undefined) cache.keepCompiledCode();
    void import('./main.ts').then(({ main }) => main());
  }
}

async function statusMain(): Promise<typeof StatusMain.statusMain> {
  // The bundle is built from the module of this type.
  const bundle = bundleOf('status') as typeof StatusMain | undefined;
  return (bundle === undefined ? await import('./commands/status/status-main.ts') : bundle).statusMain;
}

/** Loads a built bundle, which takes half as long as loading its modules. Undefined when run from source. */
function bundleOf(name: string): unknown {
  const bundle = process.getBuiltinModule('node:url').fileURLToPath(new URL(`../${name}.cjs`, import.meta.url));
  if (!process.getBuiltinModule('node:fs').existsSync(bundle)) return undefined;
  const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);
  return require(bundle);
}
