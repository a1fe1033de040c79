/** Set-up of the tests: a HOME for all of them, so that none of them reads or writes the files of the person who runs them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

let home = '';

/** Before the first test; the processes of the tests inherit the variables. */
export function setup(): void {
  // npm, which the test of the package runs, keeps the settings and the cache that it was set up with.
  process.env['npm_config_userconfig'] ??= join(homedir(), '.npmrc');
  process.env['npm_config_cache'] ??= join(homedir(), '.npm');
  home = mkdtempSync(join(tmpdir(), 'coxswain-home-'));
  process.env['HOME'] = home;
  process.env['USERPROFILE'] = home;
  for (const name of ['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_CACHE_HOME', 'CLAUDE_CONFIG_DIR']) {
    delete process.env[name];
  }
  // A test and the processes that it starts with a HOME of their own know the same marks of folders.
  process.env['XDG_STATE_HOME'] = join(home, '.local', 'state');
}

/** After the last test. */
export function teardown(): void {
  rmSync(home, { recursive: true, force: true });
}
