import { isJsonObject } from '../../base/json.ts';
import type { LineImporter } from '../importer.ts';
import { CodexExec } from './codex-exec.ts';
import { CodexRollout } from './codex-rollout.ts';

const ROLLOUT_TYPES: ReadonlySet<unknown> = new Set([
  'session_meta',
  'response_item',
  'event_msg',
  'turn_context',
  'compacted',
  'world_state',
  'token_usage_record',
]);

/**
 * Reads Codex rollouts (`$CODEX_HOME/sessions/Y/M/D/rollout-*.jsonl`): a file is a run; a subagent's file names its parent.
 *
 * Memory: one answer and the ids of the run's calls.
 */
export const codexRolloutImporter: LineImporter = {
  shape: 'lines',
  format: 'codex',
  recognise(firstLines) {
    const known = firstLines.filter(
      (line) => isJsonObject(line) && ROLLOUT_TYPES.has(line.type) && isJsonObject(line.payload),
    );
    if (known.length === 0) return 0;
    return known.length === firstLines.length ? 0.98 : 0.9;
  },
  open: (source) => new CodexRollout(source),
};

const EXEC_TYPE = /^(?:thread\.started|turn\.(?:started|completed|failed)|item\.(?:started|updated|completed))$/;

/** Reads the output of `codex exec --json`: one run. */
export const codexExecImporter: LineImporter = {
  shape: 'lines',
  format: 'codex',
  recognise(firstLines) {
    const known = firstLines.filter(
      (line) => isJsonObject(line) && typeof line.type === 'string' && EXEC_TYPE.test(line.type),
    );
    if (known.length === 0) return 0;
    return known.length === firstLines.length ? 0.95 : 0.7;
  },
  open: (source) => new CodexExec(source),
};
