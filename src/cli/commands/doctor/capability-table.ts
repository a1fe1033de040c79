import { aiSdkCapabilities } from '../../../adapters/ai-sdk/capabilities.ts';
import { claudeAgentSdkCapabilities } from '../../../adapters/claude/capabilities.ts';
import { langchainCapabilities } from '../../../adapters/langchain/capabilities.ts';
import { openaiAgentsCapabilities } from '../../../adapters/openai-agents/capabilities.ts';
import { openaiCapabilities } from '../../../adapters/openai/capabilities.ts';
import { DECISION_POINTS } from '../../../core/records/guidance.ts';
import type { AdapterCapabilities, PointCapability } from '../../../adapters/host/adapter-capabilities.ts';
import { heading, type Block } from '../../document/document.ts';

/** The capabilities of each adapter. Claude Code and its SDK have the same hooks. */
export const CAPABILITIES: Readonly<Record<string, AdapterCapabilities>> = {
  'claude-code': claudeAgentSdkCapabilities,
  'claude-agent-sdk': claudeAgentSdkCapabilities,
  openai: openaiCapabilities,
  'openai-agents': openaiAgentsCapabilities,
  'ai-sdk': aiSdkCapabilities,
  langchain: langchainCapabilities,
};

/** Returns the capabilities as a table with a row per adapter and a column per decision point. */
export function capabilityBlocks(): readonly Block[] {
  const rows = Object.entries(CAPABILITIES).map(([name, capabilities]) =>
    [name].concat(DECISION_POINTS.map((point) => cellOf(capabilities[point]))),
  );
  const left = [...DECISION_POINTS.keys()].map((at) => at + 1);
  return [heading('Delivery of advice, by adapter'), { type: 'table', head: ['', ...DECISION_POINTS], left, rows }];
}

function cellOf({ persistence, timing }: PointCapability): string {
  return persistence === 'unsupported' ? '–' : `${persistence}, ${timing}`;
}
