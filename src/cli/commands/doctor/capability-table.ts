import { aiSdkCapabilities } from '../../../adapters/ai-sdk/capabilities.ts';
import { claudeAgentSdkCapabilities } from '../../../adapters/claude/capabilities.ts';
import { langchainCapabilities } from '../../../adapters/langchain/capabilities.ts';
import { openaiAgentsCapabilities } from '../../../adapters/openai-agents/capabilities.ts';
import { openaiCapabilities } from '../../../adapters/openai/capabilities.ts';
import { DECISION_POINTS } from '../../../records/guidance.ts';
import type { AdapterCapabilities, PointCapability } from '../../../host/adapter-capabilities.ts';
import type { Paint } from '../../terminal/paint.ts';

/** What each way to an agent can do. The hooks of Claude Code and of its SDK are the same. */
export const CAPABILITIES: Readonly<Record<string, AdapterCapabilities>> = {
  'claude-code': claudeAgentSdkCapabilities,
  'claude-agent-sdk': claudeAgentSdkCapabilities,
  openai: openaiCapabilities,
  'openai-agents': openaiAgentsCapabilities,
  'ai-sdk': aiSdkCapabilities,
  langchain: langchainCapabilities,
};

/** The capabilities as a table: a row an adapter, a column a decision point. */
export function capabilityTable(paint: Paint): string {
  const rows = Object.entries(CAPABILITIES).map(([name, capabilities]) =>
    [name].concat(DECISION_POINTS.map((point) => cellOf(capabilities[point]))),
  );
  const head = ['', ...DECISION_POINTS];
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd();
  return `${[paint('bold', 'What advice can do, by adapter'), paint('dim', line(head)), ...rows.map(line)].join('\n')}\n`;
}

function cellOf({ persistence, timing }: PointCapability): string {
  return persistence === 'unsupported' ? '–' : `${persistence}, ${timing}`;
}
