import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import { putHook } from './support/built-hook.ts';
import { buildPlugin } from '../scripts/build-plugin.ts';
import { sqliteStore } from '../src/stores/sqlite/sqlite-store.ts';
import { tempFolder } from './support/temp-folder.ts';
import { storeFileOf } from './user-state.ts';

let built: Awaited<ReturnType<typeof tempFolder>>;
let home: string;
let bin: string;
let runs = 0;

beforeAll(async () => {
  built = await tempFolder();
  await putHook(built.path);
  await buildPlugin(built.path);
});

afterAll(() => built.dispose());

beforeEach(() => {
  runs += 1;
  home = join(built.path, `home-${runs}`);
  bin = join(home, 'bin');
  mkdirSync(bin, { recursive: true });
  mkdirSync(join(home, 'project', '.git'), { recursive: true });
});

/** Runs the command of the plugin for an event, as Claude Code does, with nothing but `bin` on the PATH. */
function hook(event: string): { readonly code: number | null; readonly stdout: string; readonly stderr: string } {
  const plugin = join(built.path, 'plugin');
  // Our own file.
  const { hooks } = JSON.parse(readFileSync(join(plugin, 'hooks/hooks.json'), 'utf8')) as {
    readonly hooks: Readonly<Record<string, readonly { readonly hooks: readonly { readonly command: string }[] }[]>>;
  };
  const command = hooks[event]?.[0]?.hooks[0]?.command ?? '';
  const input = {
    session_id: 's1',
    cwd: join(home, 'project'),
    hook_event_name: event,
    source: 'startup',
    prompt: 'Do it.',
  };
  const done = spawnSync('/bin/sh', ['-c', command], {
    cwd: join(home, 'project'),
    env: { HOME: home, PATH: bin, CLAUDE_PLUGIN_ROOT: plugin },
    input: JSON.stringify(input),
    encoding: 'utf8',
  });
  return { code: done.status, stdout: done.stdout, stderr: done.stderr };
}

/** A Node that says it is another version. */
function putNode(file: string, version: string): void {
  const preload = join(home, `version-${version}.cjs`);
  writeFileSync(preload, `Object.defineProperty(process.versions, 'node', { value: '${version}' });\n`);
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' -r '${preload}' "$@"\n`);
  chmodSync(file, 0o755);
}

async function recordedRuns(): Promise<number> {
  const file = storeFileOf({ project: join(home, 'project'), env: { HOME: home } });
  if (!existsSync(file)) return 0;
  const store = sqliteStore(file);
  const { runs: found } = await store.listRuns();
  await store.close();
  return found.length;
}

test('without Node the plugin reports it at the start of a session, and is silent at every other event', () => {
  const { systemMessage } = JSON.parse(hook('SessionStart').stdout) as { readonly systemMessage: string };
  expect(systemMessage).toBe(
    'coxswain records nothing in this session: it needs Node 22.23 or newer and found none. Install it from https://nodejs.org',
  );
  for (const event of ['UserPromptSubmit', 'PreToolUse', 'Stop']) {
    expect(hook(event)).toEqual({ code: 0, stdout: '', stderr: '' });
  }
});

test('with a Node that is too old the message names its version', () => {
  putNode(join(bin, 'node'), '20.20.2');
  expect(JSON.parse(hook('SessionStart').stdout)).toEqual({ systemMessage: expect.stringContaining('found 20.20.2.') });
  expect(hook('UserPromptSubmit')).toEqual({ code: 0, stdout: '', stderr: '' });
});

test.each(['no', 'an old'])('with %s Node on the PATH and a new one of nvm the session is recorded', async (what) => {
  if (what === 'an old') putNode(join(bin, 'node'), '18.0.0');
  const versions = join(home, '.nvm/versions/node');
  for (const version of ['v16.0.0', 'v24.1.0']) mkdirSync(join(versions, version, 'bin'), { recursive: true });
  putNode(join(versions, 'v16.0.0/bin/node'), '16.0.0');
  symlinkSync(process.execPath, join(versions, 'v24.1.0/bin/node'));
  for (const event of ['SessionStart', 'UserPromptSubmit']) expect(hook(event)).toMatchObject({ code: 0, stderr: '' });
  expect(await recordedRuns()).toBe(1);
});
