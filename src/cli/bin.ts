#!/usr/bin/env node
import type * as StatusMain from './commands/status/status-main.ts';

// Nothing is imported and nothing new is written before the version is known: an old Node must be able to read this.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 23)) {
  process.stderr.write(
    'coxswain needs Node 22.23 or newer, this is v' +
      process.versions.node +
      '; install a newer one from https://nodejs.org or run: npx --package=node@24 --package=coxswain coxswain\n',
  );
  process.exitCode = 1;
} else {
  // Node 22 calls its SQLite experimental, which says nothing to a user. Arguments are handed on as they are.
  const emitWarning = process.emitWarning.bind(process) as (...given: unknown[]) => void;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
    if (!String(warning).startsWith('SQLite is an experimental')) emitWarning(warning, ...rest);
  };
  const [command, flag, template, ...more] = process.argv.slice(2);
  const isFormat = flag === '--format' && template !== undefined && more.length === 0;
  if (command === 'status' && (flag === undefined || isFormat || (flag === '--json' && template === undefined))) {
    // A status line starts it every second: not even the names of the other commands are loaded.
    const options = isFormat ? { format: template } : { json: flag !== undefined };
    void statusMain().then((main) => main(options));
  } else {
    void import('./main.ts').then(({ main }) => main());
  }
}

/** From the one file that the build makes of it, which loads in half the time; from source, as it is. */
async function statusMain(): Promise<typeof StatusMain.statusMain> {
  const bundle = process.getBuiltinModule('node:url').fileURLToPath(new URL('../status.cjs', import.meta.url));
  const isBuilt = process.getBuiltinModule('node:fs').existsSync(bundle);
  if (!isBuilt) return (await import('./commands/status/status-main.ts')).statusMain;
  const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);
  // It is built from that file.
  return (require(bundle) as typeof StatusMain).statusMain;
}
