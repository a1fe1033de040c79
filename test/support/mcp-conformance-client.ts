/** The client of `npm run test:mcp`: connects through `coxswain mcp --url` and calls every tool of the server that is named last. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const cwd = mkdtempSync(join(tmpdir(), 'coxswain-mcp-'));
mkdirSync(join(cwd, '.git'));
const capabilities = { elicitation: { form: { applyDefaults: true } }, sampling: {} };
const client = new Client({ name: 'conformance', version: '1' }, { capabilities });
client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: {} }));
const bin = join(import.meta.dirname, '..', '..', 'src', 'cli', 'bin.ts');
const args = [bin, 'mcp', '--url', process.argv.at(-1) ?? ''];
const env = { PATH: process.env['PATH'] ?? '', HOME: cwd };
await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, env }));
const { tools } = await client.listTools();
for (const { name } of tools) {
  await client.callTool({ name, arguments: name === 'add_numbers' ? { a: 5, b: 3 } : {} });
}
await client.close();
rmSync(cwd, { recursive: true, force: true });
