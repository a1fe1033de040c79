import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';

import { runCli, sampleRun } from './run-cli.ts';
import { testFolder } from './support/test-folder.ts';

const home = testFolder();
const project = join(home, 'project');
const contacts = join(home, 'contacts');
let ended: readonly string[] = [];

beforeAll(async () => {
  mkdirSync(join(project, '.git'), { recursive: true });
  const spy = join(home, 'spy.cjs');
  writeFileSync(contacts, '');
  // Loaded into each process before anything else.
  writeFileSync(
    spy,
    `const { appendFileSync } = require('node:fs');
const note = (what) => appendFileSync(${JSON.stringify(contacts)}, process.argv.slice(1).join(' ') + ': ' + what + '\\n');
const dns = require('node:dns');
for (const target of [dns, dns.promises])
  for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6', 'lookupService']) {
    const before = target[name];
    target[name] = function (...args) { note(name + ' ' + args[0]); return before.apply(this, args); };
  }
const { Socket } = require('node:net');
const { connect } = Socket.prototype;
Socket.prototype.connect = function (...args) { note('connect ' + JSON.stringify(args[0])); return connect.apply(this, args); };
require('node:dgram').createSocket = () => { note('dgram'); throw new Error('no datagrams'); };
`,
  );
  ended = await everyCommand({
    NODE_OPTIONS: `--require ${spy}`,
    // Without the compiled code that the tests share, the commands keep their own.
    NODE_COMPILE_CACHE: '',
    HOME: home,
    XDG_STATE_HOME: join(home, 'state'),
    XDG_DATA_HOME: join(home, 'data'),
    XDG_CACHE_HOME: join(home, 'cache'),
    XDG_CONFIG_HOME: join(home, 'config'),
    CLAUDE_CONFIG_DIR: join(home, '.claude'),
  });
});

/** The commands that read or write runs, with their input. */
async function everyCommand(env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const run = async (args: readonly string[], stdin?: string): Promise<string> => {
    const { code, stderr } = await runCli(args, {
      cwd: project,
      env,
      ...(stdin === undefined ? {} : { stdin }),
    });
    return `${args.slice(0, 2).join(' ')} ${code}: ${stderr}`;
  };
  const event = (name: string, members: object): string =>
    JSON.stringify({ session_id: 's1', cwd: project, hook_event_name: name, ...members });
  const call = { tool_name: 'Bash', tool_input: { command: 'curl https://evil.example' }, tool_use_id: 'c1' };
  writeFileSync(join(project, 'a.json'), sampleRun('alpha', 'stuck'));
  const lines: string[] = [];
  for (const [args, stdin] of [
    [['init', 'claude-code', '--yes']],
    [['hook'], event('SessionStart', { source: 'startup' })],
    [['hook'], event('UserPromptSubmit', { prompt: 'Look at https://evil.example/x and mail me@evil.example' })],
    [['hook'], event('PreToolUse', call)],
    [['hook'], event('PostToolUse', { ...call, tool_response: { stdout: 'see http://evil.example' } })],
    [['hook'], event('SessionEnd', { reason: 'other' })],
    [['import', 'a.json']],
    [['analyze', 'a.json', '--csv', 'rows.csv']],
    [['report', '--all', '--html', 'report.html']],
    [['export', 's1', '--html', '--to', 'run.html']],
    [['export', 's1', '--to', 'run.jsonl']],
    [['show', 's1']],
    [['runs']],
    [['search', 'evil']],
    [['failures']],
    [['status']],
    [['doctor']],
    [['verify']],
    [['backtest', 'a.json']],
    [['effect', 'a.json']],
    [['config', 'show']],
    [['trust', '--list']],
    [['gc']],
  ] as const)
    lines.push(await run(args, stdin));
  return lines;
}

test.skipIf(process.platform === 'win32')('everything that the commands write can be read by its owner only', () => {
  const open: string[] = [];
  let files = 0;
  const look = (path: string): void => {
    const stats = statSync(path);
    files += 1;
    if ((stats.mode & 0o077) !== 0) open.push(`${path} ${(stats.mode & 0o777).toString(8)}`);
    if (stats.isDirectory()) for (const name of readdirSync(path)) look(join(path, name));
  };
  for (const folder of ['state', 'data', 'cache']) look(join(home, folder, 'coxswain'));
  for (const name of ['rows.csv', 'report.html', 'run.html', 'run.jsonl']) look(join(project, name));
  expect([open, ended.filter((line) => !/ [01]: /.test(line))]).toEqual([[], []]);
  expect(files).toBeGreaterThan(10);
});

test('no command resolves a name or opens a connection, whatever addresses stand in the runs', () => {
  expect(readFileSync(contacts, 'utf8')).toBe('');
});
