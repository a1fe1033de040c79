/**
 * Runs the client scenarios of the MCP conformance tests through `coxswain mcp --url`: `npm run test:mcp`. Installs the tests
 * from npm into the user's cache and keeps them there.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const PACKAGE = '@modelcontextprotocol/conformance';
const VERSION = '0.1.16';
const SCENARIOS = ['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'sse-retry'];

const place = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), `coxswain-mcp-conformance-${VERSION}`);
const program = join(place, 'node_modules', PACKAGE, 'dist', 'index.js');
if (!existsSync(program)) {
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), '{"private":true}\n');
  const install = ['install', '--no-audit', '--no-fund', '--save-exact', `${PACKAGE}@${VERSION}`];
  spawnSync('npm', install, { cwd: place, stdio: 'inherit' });
}
const client = join(import.meta.dirname, '..', 'test', 'support', 'mcp-conformance-client.ts');
for (const scenario of SCENARIOS) {
  const args = [program, 'client', '--command', `${process.execPath} ${client}`, '--scenario', scenario];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: place, encoding: 'utf8' });
  const [counts = 'no result'] = /Passed: .*/.exec(stdout + stderr) ?? [];
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${scenario}: ${counts}`);
  if (status !== 0) {
    console.log(stdout + stderr);
    process.exitCode = 1;
  }
}
