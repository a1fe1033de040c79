/** Test set-up: a HOME for each test file in that of the test run, so that no file finds runs that another one recorded. */
import { mkdtempSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const home = mkdtempSync(join(homedir(), 'file-'));
process.env['HOME'] = home;
process.env['USERPROFILE'] = home;
// What `init` keeps for a user must not be undone by another file.
process.env['XDG_STATE_HOME'] = join(home, '.local', 'state');
