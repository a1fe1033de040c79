import { atifImporter } from './atif/atif.ts';
import { callsImporter, callsLinesImporter } from './neutral/calls.ts';
import { claudeCodeImporter } from './claude-code/claude-code.ts';
import { codexRolloutImporter } from './codex/codex.ts';
import { copilotImporter } from './copilot/copilot.ts';
import { coxswainImporter } from './neutral/coxswain-records.ts';
import type { Importer } from './importer.ts';
import { inspectArchiveImporter, inspectDocumentImporter } from './inspect/inspect.ts';
import { intercodeImporter } from './intercode/intercode.ts';
import { openaiChatImporter, openaiChatLinesImporter } from './openai-chat/openai-chat.ts';
import { openhandsDocumentImporter, openhandsLineImporter } from './openhands/openhands.ts';
import { stepsImporter, stepsLinesImporter } from './neutral/steps.ts';
import { sweAgentImporter } from './swe-agent/swe-agent.ts';
import { tauBenchImporter } from './tau/tau-bench.ts';
import { tau2Importer } from './tau/tau2.ts';

/** Every importer of this version. Of two that are equally sure the earlier one is taken. */
export const importers: readonly Importer[] = [
  coxswainImporter,
  callsImporter,
  callsLinesImporter,
  stepsImporter,
  stepsLinesImporter,
  claudeCodeImporter,
  codexRolloutImporter,
  copilotImporter,
  atifImporter,
  inspectDocumentImporter,
  inspectArchiveImporter,
  openhandsDocumentImporter,
  openhandsLineImporter,
  sweAgentImporter,
  intercodeImporter,
  tauBenchImporter,
  tau2Importer,
  // The loosest form last: others hold messages of this form too.
  openaiChatImporter,
  openaiChatLinesImporter,
];
