import { readFileSync } from 'node:fs';

import { invalidArgument, messageOf } from '../../../core/base/error.ts';
import { openWatch } from '../../../hosts/mcp/mcp-watch.ts';
import { proxyStdio } from '../../../hosts/mcp/proxy-stdio.ts';

export async function mcpCommand(
  command: readonly string[],
  options: { readonly url?: string; readonly header?: readonly string[]; readonly tokenFile?: string },
): Promise<number> {
  const { url, header, tokenFile } = options;
  if (url !== undefined && command.length > 0) {
    throw invalidArgument('give a command or --url, not both');
  }
  if (url === undefined && header !== undefined) throw invalidArgument('--header needs --url');
  if (url === undefined && tokenFile !== undefined) throw invalidArgument('--token-file needs --url');
  const client = { input: process.stdin, output: process.stdout };
  const open = async (): Promise<Awaited<ReturnType<typeof openWatch>>> => openWatch(process.env);
  if (command.length > 0) return proxyStdio(command, client, open);
  if (url === undefined) return (await import('./own-tools.ts')).serveOwnTools();
  const { proxyUrl } = await import('./proxy-url.ts');
  const headers = headersOf(header ?? []);
  const token = tokenFile === undefined ? process.env['COXSWAIN_MCP_TOKEN'] : tokenIn(tokenFile);
  if (token !== undefined && token !== '') headers.set('authorization', `Bearer ${token}`);
  return proxyUrl({ url: addressOf(url), headers }, client, open);
}

function tokenIn(file: string): string {
  let token = '';
  try {
    token = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw invalidArgument(`--token-file ${file} cannot be read: ${messageOf(error)}`);
  }
  if (/^[\x21-\x7e]{1,8192}$/.test(token)) return token;
  throw invalidArgument(`--token-file ${file} wants one line with a token`);
}

function addressOf(text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw invalidArgument(`--url ${JSON.stringify(text)} is not an http or https address`);
}

/** @throws CoxswainError "invalid-argument" for a line that is not a header. The message omits its value, which may be secret. */
function headersOf(lines: readonly string[]): Headers {
  const headers = new Headers();
  for (const line of lines) {
    const [, name = '', value = ''] = /^([^:]+):\s*(.*)$/.exec(line) ?? [];
    try {
      headers.append(name, value);
    } catch {
      throw invalidArgument('--header wants "Name: value"');
    }
  }
  return headers;
}
