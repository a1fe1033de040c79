import { spawn } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';

import { beforeEach, expect, test } from 'vitest';

import { endWithTest } from './support/end-with-test.ts';
import { testFolder } from './support/test-folder.ts';
import { openBrowser } from '../src/cli/commands/view/view-command.ts';
import { startViewer } from '../src/viewer/server/start-viewer.ts';
import { BIN, runCli, sampleRun } from './run-cli.ts';

let folder: string;

beforeEach(async () => {
  folder = testFolder();
  await writeFile(join(folder, 'run.json'), sampleRun('one', 'stuck'));
});

/** A folder for temporary files that no other viewer of this machine uses. */
async function ownTemp(): Promise<string> {
  const path = join(folder, 'temp');
  await mkdir(path);
  return path;
}

test('view prints an address that opens the runs, and Ctrl-C ends it without a trace', async () => {
  const temp = await ownTemp();
  let address = '';
  let answers = 0;
  const result = await runCli(['view', 'run.json', '--no-open', '--port', '0'], {
    cwd: folder,
    env: { TMPDIR: temp },
    onStdout: ({ all, interrupt }) => {
      if (address !== '' || !all.includes('Ctrl-C')) return;
      [address = ''] = all.split('\n');
      const { origin } = new URL(address);
      void fetch(`${origin}/api/sources`)
        .then((answer) => (answers = answer.status))
        .finally(interrupt);
    },
  });
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}$/);
  expect([answers, result.code, result.stderr]).toEqual([401, 0, '']);
  expect(await readdir(temp)).toEqual([]);
});

test('the browser gets a private file and no token in its arguments', async () => {
  const temp = await ownTemp();
  const bin = join(folder, 'bin');
  const seen = join(folder, 'seen');
  await mkdir(bin);
  // Writes down the arguments that other users can see, and the file that the browser reads.
  const opener = `#!/bin/sh\nf="\${1#file://}"\n{ echo "$*"; stat -c '%a' "$f" "$(dirname "$f")"; cat "$f"; } > '${seen}.tmp'\nmv '${seen}.tmp' '${seen}'\n`;
  await writeFile(join(bin, 'xdg-open'), opener, { mode: 0o755 });
  let opened = '';
  const result = await runCli(['view', 'run.json', '--port', '0'], {
    cwd: folder,
    env: { TMPDIR: temp, PATH: `${bin}:${process.env['PATH']}` },
    onStdout: ({ all, interrupt }) => {
      if (opened !== '' || !all.includes('Ctrl-C')) return;
      opened = 'waits';
      void (async () => {
        await expect.poll(() => readdir(folder)).toContain('seen');
        opened = await readFile(seen, 'utf8');
        interrupt();
      })();
    },
  });
  expect([result.code, result.stderr]).toEqual([0, '']);
  const [args = '', fileMode, folderMode, ...page] = opened.split('\n');
  expect(args).toMatch(/^file:\/\/\/[^ ]*\/open\.html$/);
  expect([fileMode, folderMode]).toEqual(['600', '700']);
  expect(page.join('\n')).toMatch(/content="0;url=http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{43}"/);
  expect(await readdir(temp)).toEqual([]);
});

test('with --run and --call the printed address opens the call', async () => {
  let address = '';
  let calls = '';
  const { code } = await runCli(['view', 'run.json', '--no-open', '--port', '0', '--run', 'one', '--call', '3'], {
    cwd: folder,
    onStdout: ({ all, interrupt }) => {
      if (address !== '' || !all.includes('Ctrl-C')) return;
      [address = ''] = all.split('\n');
      void (async () => {
        const { hash, origin, searchParams } = new URL(address);
        const token = hash.replace('#token=', '');
        const headers = { 'content-type': 'application/json', 'x-coxswain': '1' };
        const session = await fetch(`${origin}/session`, { method: 'POST', headers, body: JSON.stringify({ token }) });
        const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? '';
        const run = `${origin}/api/runs/0/${encodeURIComponent(searchParams.get('run') ?? '')}`;
        const look = async (): Promise<string> => (await fetch(`${run}/rows`, { headers: { cookie } })).text();
        // The file is read while the page is there already, which looks again too.
        await expect.poll(look).toContain('"call":3');
        calls = await look();
        interrupt();
      })();
    },
  });
  expect(code).toBe(0);
  expect(new URL(address).search).toBe('?source=0&run=one&call=3');
  expect(calls).toContain('"call":3');
  for (const args of [
    ['--call', '3'],
    ['--run', 'one', '--call', '0'],
  ]) {
    const wrong = await runCli(['view', 'run.json', ...args], { cwd: folder });
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/^coxswain: --call [^\n]+\n$/)]);
  }
});

test('the viewer knows what keeps failing in the runs that it shows', async () => {
  const failed = { tool: 'Bash', args: { command: 'rtk bun' }, result: "unrecognized subcommand 'bun'", isError: true };
  const runs = ['a', 'b'].map((id) => JSON.stringify({ id, calls: [failed] }));
  await writeFile(join(folder, 'failing.jsonl'), runs.join('\n'));
  let answer = '';
  const { code } = await runCli(['view', 'failing.jsonl', '--no-open', '--port', '0'], {
    cwd: folder,
    onStdout: ({ all, interrupt }) => {
      if (answer !== '' || !all.includes('Ctrl-C')) return;
      answer = 'waits';
      const [address = ''] = all.split('\n');
      void (async () => {
        const { hash, origin } = new URL(address);
        const token = hash.replace('#token=', '');
        const headers = { 'content-type': 'application/json', 'x-coxswain': '1' };
        const session = await fetch(`${origin}/session`, { method: 'POST', headers, body: JSON.stringify({ token }) });
        const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? '';
        await fetch(`${origin}/api/sources`, { headers: { cookie } });
        answer = await (await fetch(`${origin}/api/failing`, { headers: { cookie } })).text();
        interrupt();
      })();
    },
  });
  expect(code).toBe(0);
  expect(JSON.parse(answer)).toMatchObject({ causes: [{ name: 'rtk bun', sessions: 2 }], leftOut: 0 });
});

test('SIGTERM ends it like Ctrl-C, also while a page is connected', async () => {
  const temp = await ownTemp();
  const child = spawn(process.execPath, [BIN, 'view', 'run.json', '--no-open', '--port', '0'], {
    cwd: folder,
    env: { ...process.env, TMPDIR: temp },
  });
  endWithTest(child);
  const code = new Promise<number | null>((resolve) => child.once('close', resolve));
  const address = await new Promise<string>((resolve) => {
    child.stdout.setEncoding('utf8').once('data', (text: string) => resolve(text.split('\n')[0] ?? ''));
  });
  const { hash, origin } = new URL(address);
  const opened = await fetch(`${origin}/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-coxswain': '1' },
    body: JSON.stringify({ token: hash.slice('#token='.length) }),
  });
  const cookie = (opened.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  const events = await fetch(`${origin}/api/events`, { headers: { cookie } });
  expect([opened.status, events.status]).toEqual([204, 200]);
  child.kill('SIGTERM');
  expect(await code).toBe(0);
  expect(await readdir(temp)).toEqual([]);
});

test('without a path it shows the sessions of the agent programs, also without a store, and the beginning of an id opens one', async () => {
  const home = join(folder, 'home');
  const project = join(home, '.claude', 'projects', '-work-app');
  await mkdir(project, { recursive: true });
  const prompt = {
    type: 'user',
    sessionId: 's',
    uuid: 'u',
    timestamp: '2026-10-01T08:00:00Z',
    cwd: '/work/app',
    version: '2.1',
  };
  await writeFile(
    join(project, 's.jsonl'),
    `${JSON.stringify({ ...prompt, message: { role: 'user', content: 'Do it' } })}\n`,
  );
  const sessionId = '0d3c2b1a-0000-4000-8000-000000000001';
  const named = { ...prompt, sessionId, message: { role: 'user', content: 'Do it by id' } };
  await writeFile(join(project, `${sessionId}.jsonl`), `${JSON.stringify(named)}\n`);
  for (const [args, query] of [
    [[], ''],
    [['0d3c2b1a', '--call', '1'], `?source=0&run=${sessionId}&call=1`],
  ] as const) {
    let address = '';
    const result = await runCli(['view', ...args, '--no-open', '--port', '0'], {
      cwd: folder,
      env: { HOME: home },
      onStdout: ({ all, interrupt }) => {
        [address = ''] = all.split('\n');
        if (all.includes('Ctrl-C')) interrupt();
      },
    });
    expect([result.code, result.stderr, new URL(address).search]).toEqual([0, '', query]);
  }
});

test('a missing path, an empty file, a wrong port and standard input are errors with a suggestion', async () => {
  const cwd = folder;
  const none = await runCli(['view', 'none.db', '--no-open'], { cwd });
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('none.db cannot be opened')]);
  await writeFile(join(folder, 'empty.jsonl'), '');
  const empty = await runCli(['view', 'empty.jsonl', '--no-open'], { cwd });
  expect([empty.code, empty.stderr]).toEqual([1, expect.stringContaining('the file is empty')]);
  const port = await runCli(['view', 'run.json', '--port', '70000'], { cwd });
  expect([port.code, port.stderr]).toEqual([2, expect.stringContaining('--port 70000')]);
  const input = await runCli(['view', '-'], { cwd });
  expect([input.code, input.stderr]).toEqual([2, expect.stringContaining('standard input')]);
  const store = await runCli(['view'], { cwd });
  expect([store.code, store.stderr]).toEqual([
    1,
    'coxswain: no run of this project is recorded yet: this machine has no session of an agent program either; coxswain demo records a sample run\n',
  ]);
});

test('a taken port is an error; without --port the next free one is used', async () => {
  const paths = [join(folder, 'run.json')];
  const first = await startViewer({ paths });
  const second = await startViewer({ paths });
  try {
    expect(second.port).not.toBe(first.port);
    await expect(startViewer({ paths, port: first.port })).rejects.toMatchObject({ code: 'input-io' });
  } finally {
    await first.close();
    await second.close();
  }
});

test('a port in use only on ::1 is skipped, because localhost would lead there', async () => {
  const server = createServer();
  const port = await new Promise<number | undefined>((resolve) => {
    server.once('error', () => resolve(undefined));
    server.listen({ host: '::1', port: 0, ipv6Only: true }, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : undefined);
    });
  });
  // On a machine without ::1 the port is free.
  const paths = [join(folder, 'run.json')];
  const started =
    port === undefined
      ? 'is taken'
      : await startViewer({ paths, port }).then(
          () => 'it was started',
          (error: Error) => error.message,
        );
  server.close();
  expect(started).toContain('is taken');
});

test('a missing browser is reported, and no shell reads the address', async () => {
  const path = process.env['PATH'];
  process.env['PATH'] = folder;
  try {
    expect(await openBrowser('http://127.0.0.1:1/#token=$(touch made)', 'linux')).toBe(false);
  } finally {
    process.env['PATH'] = path;
  }
  const opener = join(folder, 'xdg-open');
  await writeFile(opener, `#!/bin/sh\nprintf '%s' "$1" > '${join(folder, 'opened')}'\n`, { mode: 0o755 });
  process.env['PATH'] = `${folder}:${path}`;
  try {
    expect(await openBrowser('http://127.0.0.1:1/#token=$(touch made)', 'linux')).toBe(true);
    await expect.poll(() => readdir(folder)).toContain('opened');
  } finally {
    process.env['PATH'] = path;
  }
  expect((await readdir(folder)).toSorted()).toEqual(['opened', 'run.json', 'xdg-open']);
});
