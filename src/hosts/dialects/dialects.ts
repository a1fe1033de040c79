import { codexDialect } from './codex-dialect.ts';
import { copilotDialect } from './copilot-dialect.ts';
import { geminiDialect } from './gemini-dialect.ts';
import type { HookDialect, HookPayload } from './hook-dialect.ts';
import { pluginDialect } from './plugin-dialect.ts';

/** The reference: events and answers are in its form. */
const claudeDialect: HookDialect = {
  host: 'claude-code',
  isFrom: () => true,
  toPayload: (json) => json,
  toAnswer: (answer) => answer,
};

/** In order of precedence. */
const DIALECTS: readonly HookDialect[] = [
  pluginDialect('opencode'),
  pluginDialect('pi'),
  codexDialect,
  geminiDialect,
  copilotDialect,
  claudeDialect,
];

/** The dialect of the host that sent an event. A spilled event names its host. */
export function dialectOf(json: HookPayload): HookDialect {
  const { host } = json;
  return (
    DIALECTS.find((dialect) => (host === undefined ? dialect.isFrom(json) : dialect.host === host)) ?? claudeDialect
  );
}
