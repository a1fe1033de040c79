import { HOOK_EVENTS, tellsFailure } from '../../adapters/claude/read-hook-input.ts';
import { claudeCodeImporter } from '../../formats/claude-code/claude-code-import.ts';
import { piImporter } from '../../formats/pi/pi.ts';
import { opencodeDatabase } from '../../formats/opencode/opencode-database.ts';
import { codexDialect } from './codex-dialect.ts';
import { copilotDialect } from './copilot-dialect.ts';
import { geminiDialect } from './gemini-dialect.ts';
import { qwenDialect } from './qwen-dialect.ts';
import { type HookDialect, type HookPayload, stopReason, type HostName } from './hook-dialect.ts';

/** Their plugins send events in the format of `readPayload`, and deliver the text of the answer. */
function pluginDialect(host: HostName, importer: HookDialect['importer']): HookDialect {
  return {
    host,
    importer,
    events: [],
    isFrom: (json) => json['host'] === host,
    toPayload: (json) => json,
    toAnswer(answer) {
      const text = stopReason(answer);
      return text === '' ? {} : { text };
    },
  };
}

const claudeDialect: HookDialect = {
  host: 'claude-code',
  events: Object.keys(HOOK_EVENTS),
  importer: claudeCodeImporter,
  // The line of the answer has its tokens and text, the line of the result has the error flag.
  neededText: (call) => `${tellsFailure(call) ? '"tool_use","id":' : '"tool_use_id":'}${JSON.stringify(call.id)}`,
  isFrom: () => true,
  toPayload: (json) => json,
  toAnswer: (answer) => answer,
};

/** The dialects in order of precedence. */
const DIALECTS: readonly HookDialect[] = [
  pluginDialect('opencode', opencodeDatabase),
  pluginDialect('pi', piImporter),
  codexDialect,
  qwenDialect,
  geminiDialect,
  copilotDialect,
  claudeDialect,
];

export function dialectOf(json: HookPayload): HookDialect {
  const { host } = json;
  return (
    DIALECTS.find((dialect) => (host === undefined ? dialect.isFrom(json) : dialect.host === host)) ?? claudeDialect
  );
}

export function importerOf(host: string): HookDialect['importer'] | undefined {
  return DIALECTS.find((dialect) => dialect.host === host)?.importer;
}
