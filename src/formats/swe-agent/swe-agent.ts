import { type JsonMembers, listOf, membersOf, textOrUndefined } from '../../core/base/json-member.ts';
import { isJsonObject } from '../../core/base/json.ts';
import { diagnosticItem, type ImportItem } from '../import-item.ts';
import type { DocumentImporter, ImportSource } from '../importer.ts';
import { sourceStem } from '../parts/source-name.ts';
import { isMiniTrajectory, miniSweAgentItems } from './swe-agent-mini.ts';
import { sweAgentRunItems } from './swe-agent-run.ts';

const LOOKED_AT = 16;

/**
 * Reads SWE-agent `.traj` files and mini-SWE-agent `.traj.json` files. A `.traj` file contains `{trajectory, history, info}`,
 * only a `history` (demonstrations), or the retry agent's `{attempts}` with one run per attempt. A run is named after its
 * file, because the batch runner names files after instances. For the counting rules see the functions that read each form.
 */
export const sweAgentImporter: DocumentImporter = {
  shape: 'document',
  format: 'swe-agent',
  recognise(document) {
    if (!isJsonObject(document)) return 0;
    if (isMiniTrajectory(document)) return 1;
    const attempts = listOf(document.attempts);
    return Math.max(confidenceOf(document), confidenceOf(membersOf(attempts[0])));
  },
  *read(document, source) {
    const root = membersOf(document);
    const id = textOrUndefined(root.instance_id) ?? sourceStem(source.name);
    if (isMiniTrajectory(root)) yield* miniSweAgentItems(root, id);
    else yield* runsOf(root, id, source);
  },
};

function* runsOf(root: JsonMembers, id: string, source: ImportSource): Generator<ImportItem> {
  const attempts = listOf(root.attempts).filter((attempt) => confidenceOf(membersOf(attempt)) > 0);
  if (attempts.length === 0) {
    yield* sweAgentRunItems(root, id);
    return;
  }
  for (const [index, attempt] of attempts.entries()) {
    yield* sweAgentRunItems(membersOf(attempt), `${id}/attempt-${index + 1}`);
  }
  if (confidenceOf(root) > 0) {
    const message = `left out: the chosen attempt that ${source.name} repeats beside its ${attempts.length} attempts`;
    yield diagnosticItem('note', message);
  }
}

function confidenceOf(document: JsonMembers): number {
  const steps = listOf(document.trajectory).slice(0, LOOKED_AT);
  if (steps.length > 0 && steps.every((step) => isStep(step))) return 0.97;
  const history = listOf(document.history).slice(0, LOOKED_AT);
  if (history.length > 0 && history.every((entry) => isHistoryEntry(entry))) return 0.93;
  const hasEnded = textOrUndefined(membersOf(document.info).exit_status) !== undefined;
  // The run failed before its first step.
  return hasEnded && Array.isArray(document.trajectory) && Array.isArray(document.history) ? 0.8 : 0;
}

function isStep(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value.action !== 'string') return false;
  return 'observation' in value && ('response' in value || 'thought' in value || 'state' in value);
}

/** Returns true for chat messages with fields that only this format has. */
function isHistoryEntry(value: unknown): boolean {
  if (!isJsonObject(value) || typeof value.role !== 'string') return false;
  return 'agent' in value || 'message_type' in value || 'action' in value || 'is_demo' in value;
}
