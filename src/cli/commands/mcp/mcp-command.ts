import { invalidArgument } from '../../../core/base/error.ts';
import { openWatch } from '../../../hosts/mcp/open-watch.ts';
import { proxyStdio } from '../../../hosts/mcp/proxy-stdio.ts';

export interface McpOptions {
  readonly url?: string;
  readonly header?: readonly string[];
}

/** Runs `coxswain mcp`. @returns the exit code of the server */
export async function mcpCommand(command: readonly string[], { url, header }: McpOptions): Promise<number> {
  if (url !== undefined && command.length > 0) {
    throw invalidArgument('give a command or --url, not both');
  }
  if (url === undefined && header !== undefined) throw invalidArgument('--header needs --url');
  const client = { input: process.stdin, output: process.stdout };
  const open = async (): Promise<Awaited<ReturnType<typeof openWatch>>> => openWatch(process.env);
  if (command.length > 0) return proxyStdio(command, client, open);
  if (url === undefined) return (await import('./own-tools.ts')).serveOwnTools();
  const { proxyUrl } = await import('./proxy-url.ts');
  return proxyUrl({ url: addressOf(url), headers: headersOf(header ?? []) }, client, open);
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
