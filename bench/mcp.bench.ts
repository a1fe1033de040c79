/**
 * Cost of a tool call through `coxswain mcp` relative to the server without a proxy: through a bare Node proxy that copies bytes, through
 * ours without a store, and through ours with one. The official SDK's client calls a tool that answers immediately and one that takes
 * 5 ms; all alternate in every round, with arguments that never form a loop. Run: `node bench/mcp.bench.ts [ROUNDS]`, default 400.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { standardSteering } from '../src/core/steering/standard-steering.ts';
import { McpWatch } from '../src/hosts/mcp/mcp-watch.ts';
import { proxyStdio } from '../src/hosts/mcp/proxy-stdio.ts';
import { createCoxswain } from '../src/core/run/coxswain.ts';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const WITHOUT_STORE = '--without-store';
if (process.argv[2] === WITHOUT_STORE) {
  const cox = createCoxswain(standardSteering());
  const watch = new McpWatch({ cox, run: {}, onFault: (error) => console.error(error) });
  const streams = { input: process.stdin, output: process.stdout };
  const close = async (): Promise<void> => void (await cox.close());
  process.exit(await proxyStdio(process.argv.slice(3), streams, async () => ({ watch, close })));
}

const ROUNDS = Number(process.argv[2] ?? 400);
const WARM_UP = 50;
const BIN = join(import.meta.dirname, '..', 'src', 'cli', 'bin.ts');
const COPY = `const child = require('node:child_process').spawn(process.execPath, ['-e', process.argv[1]], { stdio: ['pipe', 'pipe', 'inherit'] });
process.stdin.pipe(child.stdin); child.stdout.pipe(process.stdout);`;
/** Returns about 1 KB of varying text after the number of milliseconds in the tool's name. */
const SERVER = `
let at = 0;
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const text = 'line ' + (at += 1) + ' of a file that goes on for a while; '.repeat(22);
  const result = method === 'initialize'
    ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'bench', version: '1' } }
    : method === 'tools/list' ? { tools: [] } : { content: [{ type: 'text', text }] };
  const answer = () => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
  if (params?.name === 'ms5') setTimeout(answer, 5); else answer();
});`;

const folder = mkdtempSync(join(tmpdir(), 'coxswain-bench-'));
mkdirSync(join(folder, '.git'));
const env = { PATH: process.env['PATH'] ?? '', HOME: folder };
const NODE = process.execPath;

async function connect(...args: readonly string[]): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StdioClientTransport({ command: NODE, args: [...args], cwd: folder, env }));
  return client;
}

const clients = {
  direct: await connect('-e', SERVER),
  copy: await connect('-e', COPY, SERVER),
  'without store': await connect(import.meta.filename, WITHOUT_STORE, NODE, '-e', SERVER),
  proxy: await connect(BIN, 'mcp', '--', NODE, '-e', SERVER),
};
type Way = keyof typeof clients;
const WAYS = Object.keys(clients) as readonly Way[];

const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;

for (const name of ['ms0', 'ms5']) {
  const times: Record<Way, number[]> = { direct: [], copy: [], 'without store': [], proxy: [] };
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    const shift = (round + WARM_UP) % WAYS.length;
    for (const way of [...WAYS.slice(shift), ...WAYS.slice(0, shift)]) {
      const started = performance.now();
      await clients[way].callTool({ name, arguments: { path: `src/part-${round}.ts` } });
      if (round >= 0) times[way].push(performance.now() - started);
    }
  }
  const direct = median(times.direct);
  const figures = WAYS.map(
    (way) => `${way} ${median(times[way]).toFixed(3)} ms (${(median(times[way]) / direct).toFixed(2)}x)`,
  );
  console.log(
    `${name === 'ms0' ? 'a tool that answers at once' : 'a tool that works for 5 ms'}: ${figures.join(', ')}`,
  );
}
for (const client of Object.values(clients)) await client.close();
rmSync(folder, { recursive: true, force: true });
