/** `launch.cjs` of the plugin, for any Node: if it is too old, `find-node.sh` looks for another, or reports the problem. */
import { spawnSync } from 'node:child_process';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { logFault } from '../../core/node/fault-log.ts';
import { LEAST_NODE } from './least-node.ts';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1])) {
  require(join(__dirname, 'hook.cjs'));
} else {
  const env = { ...process.env, COXSWAIN_OLD_NODE: process.versions.node };
  const { error } = spawnSync('/bin/sh', [join(__dirname, 'find-node.sh'), 'coxswain-hook'], { env, stdio: 'inherit' });
  if (error !== undefined) {
    const message = `the plugin needs Node ${LEAST_NODE.join('.')} or newer, found ${process.versions.node}; hooks of coxswain init bring their own`;
    // The folder lookup of the fault log does not work on an old Node.
    const { XDG_STATE_HOME = '' } = process.env;
    const state = { XDG_STATE_HOME: XDG_STATE_HOME === '' ? join(homedir(), '.local', 'state') : XDG_STATE_HOME };
    logFault({ where: 'plugin', message }, { env: state, nowMs: Date.now() });
  }
}
