import { BUILD } from '../../../hosts/claude-code/build.ts';
import { durationText } from '../../../core/base/number-text.ts';
import { WORDS } from '../../../core/records/words.ts';
import { acknowledgeToolDefinition, type ToolDefinition } from '../../../core/steering/feedback/acknowledge.ts';
import { findStatus } from '../status/find-status.ts';
import { type RunStatus, statusText } from '../status/run-status.ts';
import { CallToolRequestSchema, ListToolsRequestSchema, Server, StdioServerTransport } from './mcp-sdk.ts';

interface McpTool extends ToolDefinition {
  readonly annotations?: { readonly readOnlyHint: true };
  readonly answer: () => Promise<string>;
}

const NO_ARGUMENTS = { type: 'object', properties: {}, additionalProperties: false } as const;

const TOOLS: readonly McpTool[] = [
  {
    ...acknowledgeToolDefinition,
    // The hook sees the call and records the agent's response.
    answer: async () => 'Noted.',
  },
  {
    name: 'run_status',
    description: 'How your run stands: calls, errors, the pattern you are in, the time left.',
    inputSchema: NO_ARGUMENTS,
    annotations: { readOnlyHint: true },
    answer: async () => ownStatusText(await currentRun()),
  },
  {
    name: 'time_left',
    description: 'How long you have until the deadline of your run.',
    inputSchema: NO_ARGUMENTS,
    annotations: { readOnlyHint: true },
    answer: async () => leftText(await currentRun()),
  },
];

export async function serveOwnTools(): Promise<number> {
  const server = new Server({ name: 'coxswain', version: BUILD }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: TOOLS.map(({ answer: _none, ...tool }) => ({
      ...tool,
      inputSchema: { ...tool.inputSchema, type: 'object' },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const tool = TOOLS.find(({ name }) => name === params.name);
    const result = (text: string, isError = false): object => ({ content: [{ type: 'text', text }], isError });
    if (tool === undefined) return result('there is no such tool', true);
    try {
      return result(await tool.answer());
    } catch {
      return result('the store cannot be read; `coxswain doctor` says why', true);
    }
  });
  const inputEnd = new Promise<void>((resolve) => process.stdin.once('end', resolve));
  await server.connect(new StdioServerTransport());
  await inputEnd;
  await server.close();
  return 0;
}

async function currentRun(): Promise<RunStatus | undefined> {
  return await findStatus(process.env, '', Date.now());
}

/** Returns the status without words of another program, which a recorded run may have as its outcome or the kind of a pattern. */
export function ownStatusText(run: RunStatus | undefined): string {
  if (run === undefined) return statusText(run);
  const { outcome, pattern } = run;
  const isOwn = (words: object, id: string | undefined): boolean => id === undefined || Object.hasOwn(words, id);
  return statusText({
    ...run,
    outcome: isOwn(WORDS.outcome, outcome ?? undefined) ? outcome : 'over',
    pattern: isOwn(WORDS.pattern, pattern?.kind) ? pattern : pattern && { ...pattern, kind: 'a pattern' },
  }).replace(/^cox /, '');
}

function leftText(run: RunStatus | undefined): string {
  if (run === undefined) return 'There is no run.';
  if (run.leftMs === null) return 'The run has no deadline.';
  return run.leftMs >= 0 ? `${durationText(run.leftMs)} left.` : `${durationText(-run.leftMs)} over time.`;
}
