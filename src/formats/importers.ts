import { aiderImporter } from './aider/aider.ts';
import { atifImporter } from './atif/atif.ts';
import { callsImporter, callsLinesImporter } from './neutral/calls.ts';
import { clarkAgentImporter } from './clark-agent/clark-agent.ts';
import { claudeCodeImporter } from './claude-code/claude-code-import.ts';
import { codexExecImporter, codexRolloutImporter } from './codex/codex.ts';
import { copilotImporter } from './copilot/copilot.ts';
import { coxswainImporter } from './neutral/coxswain-records.ts';
import { geminiChatImporter, geminiDocumentImporter, geminiStreamImporter } from './gemini/gemini.ts';
import { gooseDocumentImporter, gooseLinesImporter } from './goose/goose.ts';
import { kimiCodeImporter } from './kimi/kimi-code.ts';
import { kimiImporter } from './kimi/kimi.ts';
import type { FormatName, Importer } from './importer.ts';
import { inspectArchiveImporter, inspectDocumentImporter } from './inspect/inspect.ts';
import { openaiChatImporter, openaiChatLinesImporter } from './openai-chat/openai-chat.ts';
import { openhandsDocumentImporter, openhandsFolderImporter, openhandsLineImporter } from './openhands/openhands.ts';
import { opencodeImporter, opencodeLinesImporter } from './opencode/opencode.ts';
import { piImporter } from './pi/pi.ts';
import { qwenImporter } from './qwen/qwen.ts';
import { otlpDocumentImporter, otlpLinesImporter } from './otlp/otlp.ts';
import { stepsImporter, stepsLinesImporter } from './neutral/steps.ts';
import { sweAgentImporter } from './swe-agent/swe-agent.ts';
import { tauBenchImporter, tau2Importer } from './tau/tau2.ts';

/** All importers. If two importers have the same confidence, the earlier one is used. */
export const importers: readonly Importer[] = [
  clarkAgentImporter,
  coxswainImporter,
  callsImporter,
  callsLinesImporter,
  stepsImporter,
  stepsLinesImporter,
  claudeCodeImporter,
  codexRolloutImporter,
  codexExecImporter,
  copilotImporter,
  geminiChatImporter,
  geminiDocumentImporter,
  geminiStreamImporter,
  opencodeImporter,
  opencodeLinesImporter,
  piImporter,
  qwenImporter,
  kimiImporter,
  kimiCodeImporter,
  gooseLinesImporter,
  gooseDocumentImporter,
  aiderImporter,
  atifImporter,
  inspectDocumentImporter,
  inspectArchiveImporter,
  openhandsFolderImporter,
  openhandsDocumentImporter,
  openhandsLineImporter,
  otlpLinesImporter,
  otlpDocumentImporter,
  sweAgentImporter,
  tauBenchImporter,
  tau2Importer,
  // This importer is last because its format is the least specific: other formats also contain such messages.
  openaiChatImporter,
  openaiChatLinesImporter,
];

/** The importers of one format, which must still recognise a file of it. Undefined, for all, without a format. */
export function importersOf(format: FormatName | undefined): readonly Importer[] | undefined {
  return format === undefined ? undefined : importers.filter((importer) => importer.format === format);
}
