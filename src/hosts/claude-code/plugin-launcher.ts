/**
 * `launch.cjs` of the plugin: a plugin cannot bring Node along, so it runs on the one of the user's PATH. Where that is too old
 * for the hook it leaves a line in the fault log, which `coxswain doctor` reads, and the agent goes on. Built for any Node.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';

import { logFault } from './fault-log.ts';

/** As `engines` of the package. */
const LEAST_NODE = 22;

const major = Number(process.versions.node.split('.')[0]);
if (major >= LEAST_NODE) {
  // Beside this file.
  require(join(__dirname, 'hook.cjs'));
} else {
  const message = `the plugin needs Node ${LEAST_NODE} or newer on the PATH, found ${process.versions.node}; coxswain init needs none`;
  // An old Node cannot look the folder up as the log does.
  const { XDG_STATE_HOME = '' } = process.env;
  const env = { XDG_STATE_HOME: XDG_STATE_HOME === '' ? join(homedir(), '.local', 'state') : XDG_STATE_HOME };
  logFault({ where: 'plugin', message }, { env, nowMs: Date.now() });
}
