/** Test set-up: a temporary HOME, so tests neither read nor write the user's files. */
import { mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

let home = '';

/** Runs before the first test; test processes inherit the variables. */
export function setup(): void {
  // npm, used by the package test, keeps its settings and cache.
  process.env['npm_config_userconfig'] ??= join(homedir(), '.npmrc');
  process.env['npm_config_cache'] ??= join(homedir(), '.npm');
  home = mkdtempSync(join(tmpdir(), 'coxswain-home-'));
  process.env['HOME'] = home;
  process.env['USERPROFILE'] = home;
  for (const name of ['XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_CACHE_HOME', 'CLAUDE_CONFIG_DIR']) {
    delete process.env[name];
  }
  // A test and its processes with another HOME share the folder marks.
  process.env['XDG_STATE_HOME'] = join(home, '.local', 'state');
}

/** Runs after the last test. */
export function teardown(): void {
  rmSync(home, { recursive: true, force: true });
}
