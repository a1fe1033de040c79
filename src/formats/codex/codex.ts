import { confidence } from '../parts/confidence.ts';
import { isJsonObject } from '../../core/base/json.ts';
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
 * Reads Codex rollouts (`$CODEX_HOME/sessions/Y/M/D/rollout-*.jsonl`). Each file is a run. The file of a subagent names its
 * parent.
 *
 * Memory: one answer and the ids of the run's calls.
 */
export const codexRolloutImporter: LineImporter = {
  shape: 'lines',
  format: 'codex',
  recognise(firstLines) {
    return confidence(firstLines, ({ type, payload }) => ROLLOUT_TYPES.has(type) && isJsonObject(payload), {
      all: 0.98,
      some: 0.9,
    });
  },
  open: (source) => new CodexRollout(source),
};

const EXEC_TYPE = /^(?:thread\.started|turn\.(?:started|completed|failed)|item\.(?:started|updated|completed))$/;

/** Reads the output of `codex exec --json` as one run. */
export const codexExecImporter: LineImporter = {
  shape: 'lines',
  format: 'codex',
  recognise(firstLines) {
    return confidence(firstLines, ({ type }) => typeof type === 'string' && EXEC_TYPE.test(type), {
      all: 0.95,
      some: 0.7,
    });
  },
  open: (source) => new CodexExec(source),
};
