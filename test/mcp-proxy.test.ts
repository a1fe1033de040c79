import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ProgressNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { build } from 'esbuild';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { RawMessages } from '../src/cli/commands/mcp/proxy-url.ts';
import type { TrajectoryPayload } from '../src/core/records/trajectory-record.ts';
import { openStoreReader } from '../src/stores/registry/open-store.ts';
import { BIN } from './run-cli.ts';
import { endWithTest } from './support/end-with-test.ts';
import { testFolder } from './support/test-folder.ts';
import { storeFileOf } from './user-state.ts';

const SERVER = join(testFolder(), 'mcp-server.mjs');

// The SDK starts in a third of the time from a bundle.
beforeAll(async () => {
  await build({
    entryPoints: [join(import.meta.dirname, 'support', 'mcp-server.ts')],
    outfile: SERVER,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: { js: "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);" },
  });
});
const NODE = process.execPath;

async function newProject(): Promise<string> {
  const folder = testFolder();
  const project = join(folder, 'project');
  await mkdir(join(project, '.git'), { recursive: true });
  return project;
}

const envOf = (project: string): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
  HOME: project,
});

/** Connects a client to a server, directly or through `coxswain mcp ARGS`. */
async function connect(
  project: string,
  command: string,
  args: readonly string[],
): Promise<{
  readonly client: Client;
  readonly stderr: () => string;
  readonly closed: Promise<void>;
  readonly close: () => Promise<void>;
}> {
  const client = new Client({ name: 'test client', version: '1' }, { capabilities: { sampling: {}, elicitation: {} } });
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    role: 'assistant',
    model: 'none',
    content: { type: 'text', text: 'hello' },
  }));
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'test' } }));
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    cwd: project,
    env: envOf(project),
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (text: Buffer) => (stderr += text.toString()));
  const closed = new Promise<void>((resolve) => Object.assign(client, { onclose: resolve }));
  await client.connect(transport);
  onTestFinished(() => client.close());
  // The SDK's own `close` kills a process that takes more than two seconds, as on a busy machine.
  const close = (): Promise<void> => {
    transport['_process']?.stdin?.end();
    return closed;
  };
  return { client, stderr: () => stderr, closed, close };
}

async function recordsOf(project: string): Promise<readonly TrajectoryPayload[]> {
  const store = await openStoreReader(storeFileOf({ project, env: envOf(project) }));
  const payloads: TrajectoryPayload[] = [];
  const { runs } = await store.listRuns();
  for (const { runId } of runs) for await (const { payload } of store.readRun(runId)) payloads.push(payload);
  await store.close();
  return payloads;
}

async function httpServer(): Promise<{ readonly url: string; readonly process: ChildProcess }> {
  const child = spawn(NODE, [SERVER, '--http'], { stdio: ['ignore', 'pipe', 'inherit'] });
  endWithTest(child);
  const [line] = await once(child.stdout, 'data');
  return { url: String(line).trim(), process: child };
}

describe.each(['stdio', 'streamable HTTP'] as const)('in front of a server of the official SDK over %s', (wire) => {
  const proxied = async (project: string): ReturnType<typeof connect> =>
    wire === 'stdio'
      ? connect(project, NODE, [BIN, 'mcp', '--', NODE, SERVER])
      : connect(project, NODE, [BIN, 'mcp', '--url', (await httpServer()).url]);

  test('a client gets every answer as without the proxy, and calls are recorded with the annotations', async () => {
    const project = await newProject();
    const direct = await connect(project, NODE, [SERVER]);
    const through = await proxied(project);
    const texts = async (client: Client): Promise<unknown> => {
      const steps: unknown[] = [client.getServerVersion(), client.getServerCapabilities(), await client.listTools()];
      for (const name of ['frobnicate', 'count', 'fail', 'sample', 'elicit']) {
        steps.push(await client.callTool({ name, arguments: { at: 1 } }));
      }
      steps.push(await client.callTool({ name: 'refuse' }).catch((error: unknown) => String(error)));
      const seen: unknown[] = [];
      client.setNotificationHandler(ProgressNotificationSchema, ({ params }) => void seen.push(params));
      steps.push(await client.callTool({ name: 'progress', _meta: { progressToken: 'p' } }), seen);
      steps.push(await client.listResources(), await client.readResource({ uri: 'test:one' }));
      return steps;
    };
    expect(await texts(through.client)).toEqual(await texts(direct.client));
    await through.close();
    const records = await recordsOf(project);
    const started = records.filter(({ kind }) => kind === 'tool_started');
    expect(started).toMatchObject([
      { tool_name: 'frobnicate', args: { at: 1 }, annotations: { readOnlyHint: true } },
      { tool_name: 'count' },
      { tool_name: 'fail' },
      { tool_name: 'sample' },
      { tool_name: 'elicit' },
      { tool_name: 'refuse' },
      { tool_name: 'progress' },
    ]);
    expect(records.filter(({ kind }) => kind === 'tool_ended')).toMatchObject([
      { result: 'nothing there', is_error: false },
      { result: '{"count":7}', is_error: false },
      { result: 'no such file', is_error: true },
      { is_error: false },
      { is_error: false },
      { result: expect.stringContaining('it is refused'), is_error: true },
      { result: 'done', is_error: false },
    ]);
    expect(records[0]).toMatchObject({ kind: 'run_started', host: 'mcp', identity: { agent_name: 'test client' } });
    expect(records.at(-1)).toMatchObject({ kind: 'run_ended', outcome: 'ended' });
  });

  test('a loop gets advice as one more text of the result, and structured content stays as it is', async () => {
    const { client } = await proxied(await newProject());
    await client.listTools();
    const ask = async (): Promise<unknown> => client.callTool({ name: 'count', arguments: {} });
    const plain = { content: [{ type: 'text', text: '{"count":7}' }], structuredContent: { count: 7 } };
    expect([await ask(), await ask()]).toEqual([plain, plain]);
    // At the third call, or once the store has taken the first.
    await expect.poll(ask).toEqual({
      content: [...plain.content, { type: 'text', text: expect.stringContaining('[Feedback - Pattern]') }],
      structuredContent: { count: 7 },
    });
    expect(await ask()).toEqual(plain);
  });

  test('a cancelled call has ended for server and record', async () => {
    const project = await newProject();
    const { client, stderr, close } = await proxied(project);
    const abort = new AbortController();
    const waiting = client.callTool({ name: 'wait' }, undefined, { signal: abort.signal });
    waiting.catch(() => undefined);
    await client.listResources();
    abort.abort('enough');
    await expect(waiting).rejects.toThrow('enough');
    const seen = wire === 'stdio' ? 'the call was cancelled' : '';
    await expect.poll(stderr).toContain(seen);
    await client.listResources();
    await close();
    expect((await recordsOf(project)).filter(({ kind }) => kind === 'tool_ended')).toMatchObject([
      { result: expect.stringContaining('cancelled'), is_error: true, result_missing: true },
    ]);
  });
});

test("the client sees the death of the server and what it wrote to standard error, and the exit code is the server's", async () => {
  const project = await newProject();
  const { client, stderr, closed } = await connect(project, NODE, [BIN, 'mcp', '--', NODE, SERVER]);
  await expect(client.callTool({ name: 'die' })).rejects.toThrow('Connection closed');
  await closed;
  expect(stderr()).toBe('the server says hello\nthe server dies\n');
  expect((await recordsOf(project)).slice(-2)).toMatchObject([
    { kind: 'tool_ended', result_missing: true, is_error: true },
    { kind: 'run_ended', outcome: 'error' },
  ]);
  const args = (code: string): readonly string[] => ['mcp', '--', NODE, '-e', code];
  expect((await raw(project, [BIN, ...args('process.exit(7)')], '')).code).toBe(7);
  expect((await raw(project, [BIN, ...args('process.kill(process.pid, "SIGKILL")')], '')).code).toBe(137);
  const missing = await raw(project, [BIN, 'mcp', '--', 'no-such-program'], '');
  expect([missing.code, missing.stderr]).toEqual([2, 'coxswain: no-such-program cannot be started\n']);
});

test('a server over HTTP that is gone is an error of the protocol', async () => {
  const server = await httpServer();
  const { client } = await connect(await newProject(), NODE, [BIN, 'mcp', '--url', server.url]);
  server.process.kill('SIGKILL');
  await once(server.process, 'exit');
  await expect(client.callTool({ name: 'count' })).rejects.toThrow('fetch failed');
});

test('over HTTP a notification has arrived before the next message is sent', async () => {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(405).end();
      return;
    }
    let body = '';
    request.on('data', (bytes: Buffer) => (body += bytes.toString()));
    request.on('end', () => {
      // A message of the client, which this test wrote.
      const { id, method } = JSON.parse(body) as { readonly id?: number; readonly method: string };
      seen.push(method);
      if (id === undefined) {
        setTimeout(() => {
          seen.push(`${method} taken`);
          response.writeHead(202).end();
        }, 200);
        return;
      }
      const result =
        method === 'tools/list'
          ? { tools: [] }
          : { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'x', version: '1' } };
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  // It listens on a port.
  const { port } = server.address() as AddressInfo;
  const { client } = await connect(await newProject(), NODE, [BIN, 'mcp', '--url', `http://127.0.0.1:${port}/`]);
  await client.listTools();
  const initialized = 'notifications/initialized';
  expect(seen).toEqual(['initialize', initialized, `${initialized} taken`, 'tools/list']);
});

/** A process that is given bytes and ends, or what `next` makes of its output after each answer until that is nothing. */
async function raw(
  project: string,
  args: readonly string[],
  input: string | Buffer | ((output: string, answers: number) => string | undefined),
): Promise<{ readonly code: number | null; readonly stdout: Buffer; readonly stderr: string }> {
  const child = spawn(NODE, args, { cwd: project, env: envOf(project) });
  endWithTest(child);
  const stdout: Buffer[] = [];
  let stderr = '';
  const feed = (answers: number): void => {
    if (typeof input !== 'function') return;
    const more = input(Buffer.concat(stdout).toString(), answers);
    if (more === undefined) child.stdin.end();
    else child.stdin.write(more);
  };
  let answers = 0;
  child.stdout.on('data', (bytes: Buffer) => {
    stdout.push(bytes);
    if (/"(?:result|error)"/.test(bytes.toString())) feed((answers += 1));
  });
  child.stderr.on('data', (bytes: Buffer) => (stderr += bytes.toString()));
  child.stdin.on('error', () => undefined);
  if (typeof input === 'function') feed(0);
  else child.stdin.end(input);
  const [code] = await once(child, 'close');
  return { code, stdout: Buffer.concat(stdout), stderr };
}

const call = (id: unknown, name = 'x'): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: {} } });
/** Forty equal calls, one after another. */
const LOOP = (_output: string, answers: number): string | undefined =>
  answers < 40 ? `${call(answers)}\n` : undefined;
/** A server that answers each line with itself as a result, in unusual formatting, after a notification. */
const ECHO = String.raw`
  const out = (text) => process.stdout.write(text);
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    let id = 1;
    try { id = JSON.parse(line).id ?? 1 } catch {}
    out('{"jsonrpc":"2.0","method":"notifications\/message","params":{"n":1.0,"big":12345678901234567890}}\r\n');
    out('{ "id" : ' + JSON.stringify(id) + ',\t"result":{"n":1.00,"content":[ {"type":"text","text":"\u00e9é 💥","n":1e3} ] , "structuredContent":{"a":1,"a":2}}}\n');
  }).on('close', () => out('no line feed at the end'));
`;
const HOSTILE = [
  'no JSON',
  '',
  '[]',
  'null',
  '"text"',
  '{"jsonrpc":"2.0","id":{"a":1},"method":"tools/call","params":7}',
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":{"a":[]},"arguments":"text"}}',
  '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"unknown"}}',
  `{"id":2,"method":"tools/call","params":{"name":"deep","arguments":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`,
  `[${call(3)},${call(4)}]`,
  call('\u0000 __proto__'),
];

test('whatever is no advice passes byte for byte, in both directions', async () => {
  const project = await newProject();
  const input = Buffer.concat([
    Buffer.from(`${HOSTILE.join('\n')}\n`),
    Buffer.from([0xff, 0xfe, 0x00, 0x0a]),
    Buffer.from(`${call(9, 'é'.repeat(70_000))}\r\n`),
  ]);
  const direct = await raw(project, ['-e', ECHO], input);
  const through = await raw(project, [BIN, 'mcp', '--', NODE, '-e', ECHO], input);
  expect(through.stdout.toString('latin1')).toBe(direct.stdout.toString('latin1'));
  const copy = 'process.stdin.pipe(process.stdout)';
  expect((await raw(project, [BIN, 'mcp', '--', NODE, '-e', copy], input)).stdout.equals(input)).toBe(true);
});

test('over HTTP a message passes byte for byte, in a body and in a stream', async () => {
  const bodies: string[] = [];
  const version = '"protocolVersion":"2025-06-18","capabilities":{ },"serverInfo":{"name":"x","version":"1"}';
  const answers = [
    `{ "jsonrpc":"2.0",\t"result":{${version},"n":1.0},"id":1 }`,
    `{"result":{"big":12345678901234567890,"text":"\\u00e9é\\/"} , "id":2,"jsonrpc":"2.0"}`,
    `{ "id":3, "jsonrpc":"2.0", "result":{ "n":1e3 } }`,
  ];
  const notification = '{"jsonrpc":"2.0", "method":"notifications\\/message","params":{"n":1.00}}';
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (bytes: Buffer) => (body += bytes.toString()));
    request.on('end', () => {
      if (request.method !== 'POST') {
        response.writeHead(405).end();
        return;
      }
      const at = bodies.push(body) - 1;
      const answer = answers[at] ?? '';
      if (at !== 1) {
        response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
        return;
      }
      const events = `event: message\ndata: ${notification}\n\n: a comment\r\nid: 7\ndata:${answer}\r\n\r\n`;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(events.slice(0, 60));
      setImmediate(() => response.end(events.slice(60)));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  // It listens on a port.
  const { port } = server.address() as AddressInfo;
  const requests = [
    '{ "id":1,"jsonrpc":"2.0","method":"initialize","params":{"capabilities":{},"clientInfo":{"name":"c","version":"1"},"protocolVersion":"2025-06-18"}}',
    '{"jsonrpc":"2.0","id":2,"method":"x","params":{"n":1.0,"big":12345678901234567890,"text":"\\u00e9"}}',
    '{"jsonrpc":"2.0","id":3, "method":"y"}',
  ];
  const url = `http://127.0.0.1:${port}/`;
  const through = await raw(await newProject(), [BIN, 'mcp', '--url', url], (_output, count) =>
    requests[count] === undefined ? undefined : `${requests[count]}\n`,
  );
  expect(bodies).toEqual(requests);
  expect(through.stdout.toString()).toBe(`${[answers[0], notification, answers[1], answers[2]].join('\n')}\n`);
});

test('advice in an unusually formatted result leaves every other byte as it is', async () => {
  const project = await newProject();
  const part = /,\{"type":"text","text":"(?:[^"\\]|\\.)+"\}(?=\] , "structuredContent)/;
  let calls = '';
  // The third call at the earliest, and once the store has taken the first.
  const through = await raw(project, [BIN, 'mcp', '--', NODE, '-e', ECHO], (output, answers) => {
    if (part.test(output)) return undefined;
    calls += `${call(answers)}\n`;
    return `${call(answers)}\n`;
  });
  const direct = await raw(project, ['-e', ECHO], calls);
  const before = direct.stdout.toString();
  const after = through.stdout.toString();
  expect(after.match(new RegExp(part, 'g'))).toHaveLength(1);
  expect(after.replace(part, '')).toBe(before);
});

test('advice is not written into one of two members with the same name', async () => {
  const project = await newProject();
  const twice = ECHO.replace(`, "structuredContent":{"a":1,"a":2}`, `, "content":[ {"type":"text","text":"é"} ]`);
  const calls = Array.from({ length: 40 }, (_, at) => `${call(at)}\n`).join('');
  const through = await raw(project, [BIN, 'mcp', '--', NODE, '-e', twice], LOOP);
  const direct = await raw(project, ['-e', twice], calls);
  expect(through.stdout.toString()).toBe(direct.stdout.toString());
});

test('headers of the user never follow a redirect to another origin', async () => {
  const seen: (string | undefined)[] = [];
  const serverOf = async (answer: (url: string) => { readonly location?: string }): Promise<string> => {
    const server = createServer((request, response) => {
      seen.push(`${request.headers.authorization} ${String(request.headers['x-key'])}`);
      request.resume().on('end', () => {
        const { location } = answer(String(request.url));
        if (location === undefined) response.writeHead(200, { 'content-type': 'application/json' });
        else response.writeHead(307, { location });
        response.end('{"jsonrpc":"2.0","id":1,"result":{}}');
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  };
  const project = await newProject();
  writeFileSync(join(project, 'token'), 'horse\n');
  const options = ['--header', 'x-key: battery', '--token-file', join(project, 'token')];
  const ask = async (url: string): Promise<string> =>
    (
      await raw(project, [BIN, 'mcp', '--url', url, ...options], (_output, answers) =>
        answers < 1 ? `${call(1)}\n` : undefined,
      )
    ).stdout.toString();
  const other = await serverOf(() => ({}));
  const within = await serverOf((path) => (path === '/' ? { location: '/mcp' } : {}));
  expect(await ask(within)).toContain('"result":{}');
  expect(seen.splice(0).slice(0, 2)).toEqual(['Bearer horse battery', 'Bearer horse battery']);
  const away = await serverOf(() => ({ location: other }));
  expect(await ask(away)).toContain(`the server redirects to ${new URL(other).origin}`);
  expect(seen).toHaveLength(1);
});

test('lines of a server that are no messages are not kept, and of messages the last thousand', async () => {
  const messages = new RawMessages(64 * 1024 * 1024, () => undefined);
  const numbered = (id: number): object => ({ jsonrpc: '2.0', id, result: {} });
  const lines = Array.from({ length: 1_001 }, (_, id) => JSON.stringify(numbered(id))).join('\n');
  await new Response(new Response(`${'{}\n'.repeat(1_000)}${lines}`).body?.pipeThrough(messages.tap())).text();
  expect(messages.take({})).toBeUndefined();
  expect(messages.take(numbered(0))).toBeUndefined();
  expect(messages.take(numbered(1))?.toString()).toBe(JSON.stringify(numbered(1)));
});

test('a message of 100 MB passes with bounded memory, and its call is recorded', async () => {
  const project = await newProject();
  const huge = String.raw`
    process.stdin.once('data', async () => {
      const part = 'x'.repeat(1024 * 1024);
      const write = (text) => new Promise((done) => process.stdout.write(text, done));
      await write('{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"');
      for (let at = 0; at < 100; at += 1) await write(part);
      await write('"}]},"id":1}\n');
      process.exit(0);
    });
  `;
  const args = [BIN, 'mcp', '--', NODE, '-e', huge];
  const child = spawn(NODE, args, { cwd: project, env: envOf(project) });
  endWithTest(child);
  const hash = createHash('sha256');
  let bytes = 0;
  let most = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    // Most memory that it ever had, in KiB, where the system says so.
    const status = `/proc/${child.pid}/status`;
    if (existsSync(status)) most = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(status, 'utf8'))?.[1] ?? most);
    hash.update(chunk);
  });
  child.stdin.write(`${call(1)}\n`);
  const [code] = await once(child, 'close');
  const expected = createHash('sha256').update('{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"');
  for (let at = 0; at < 100; at += 1) expected.update('x'.repeat(1024 * 1024));
  expect([code, bytes > 100 * 1024 * 1024]).toEqual([0, true]);
  // It needs 118 MB, however long the message is.
  expect(most).toBeLessThan(180 * 1024);
  expect(hash.digest('hex')).toBe(expected.update('"}]},"id":1}\n').digest('hex'));
  expect((await recordsOf(project)).find(({ kind }) => kind === 'tool_ended')).toMatchObject({
    result: expect.stringContaining('more than'),
  });
});

describe('where nothing can be recorded, everything passes and nothing is added', () => {
  const passed = async (project: string): Promise<unknown> => raw(project, [BIN, 'mcp', '--', NODE, '-e', ECHO], LOOP);
  const direct = async (project: string): Promise<unknown> => raw(project, ['-e', ECHO], LOOP);

  test('a store that is no database', async () => {
    const project = await newProject();
    await raw(project, [BIN, 'mcp', '--', NODE, '-e', ECHO], LOOP);
    await writeFile(storeFileOf({ project, env: envOf(project) }), 'no database'.repeat(1_000));
    expect(await passed(project)).toEqual(await direct(project));
  });

  test('a store on a database server that is not there', async () => {
    const project = await newProject();
    const folder = join(project, '.config', 'coxswain');
    await mkdir(folder, { recursive: true });
    await writeFile(
      join(folder, 'config.json'),
      JSON.stringify({ store: { address: 'postgres://user@127.0.0.1:9/none' } }),
    );
    expect(await passed(project)).toEqual(await direct(project));
  });

  test('a configuration that is no JSON, and a home that cannot be written', async () => {
    const project = await newProject();
    await writeFile(join(project, 'coxswain.config.json'), '{{{');
    await raw(project, [BIN, 'mcp', '--', NODE, '-e', ECHO], LOOP);
    await chmod(project, 0o500);
    onTestFinished(() => chmod(project, 0o700));
    const through = await raw(project, [BIN, 'mcp', '--', NODE, '-e', ECHO], call(1));
    expect([through.code, through.stderr]).toEqual([0, '']);
  });
});

test('calls that were made while another process held the store are recorded later', async () => {
  const project = await newProject();
  await raw(project, [BIN, 'mcp', '--', NODE, '-e', ECHO], `${call(1)}\n`);
  const database = new DatabaseSync(storeFileOf({ project, env: envOf(project) }));
  database.exec('BEGIN IMMEDIATE');
  const { client, close } = await connect(project, NODE, [BIN, 'mcp', '--', NODE, SERVER]);
  for (let at = 0; at < 2; at += 1) await client.callTool({ name: 'frobnicate', arguments: {} });
  database.exec('COMMIT');
  database.close();
  await close();
  expect((await recordsOf(project)).filter(({ kind }) => kind === 'tool_ended')).toHaveLength(3);
});

test('bad arguments give one line', async () => {
  const project = await newProject();
  const fails = async (...args: readonly string[]): Promise<readonly unknown[]> => {
    const { code, stderr } = await raw(project, [BIN, 'mcp', ...args], '');
    return [code, stderr];
  };
  expect(await fails('--url', 'ftp://x')).toEqual([2, 'coxswain: --url "ftp://x" is not an http or https address\n']);
  expect(await fails('--url', 'http://x', '--', 'x')).toEqual([2, 'coxswain: give a command or --url, not both\n']);
  expect(await fails('--header', 'a: b')).toEqual([2, 'coxswain: --header needs --url\n']);
  expect(await fails('--url', 'http://x', '--header', 'no header')).toEqual([
    2,
    'coxswain: --header wants "Name: value"\n',
  ]);
});
