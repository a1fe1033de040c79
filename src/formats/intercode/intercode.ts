import { isJsonObject } from '../../base/json.ts';
import type { RunEnded } from '../../records/trajectory-record.ts';
import type { CallShape } from '../parts/call-ids.ts';
import type { ImportItem } from '../import-item.ts';
import type { DocumentImporter, ImportSource } from '../importer.ts';
import { type JsonMembers, listOf, membersOf, numberOrUndefined, textOrUndefined } from '../../base/json-member.ts';
import { runEnded, RunItems } from '../parts/run-items.ts';
import { SkipCounts } from '../parts/skip-counts.ts';
import { asJson } from '../parts/source-content.ts';
import { sourceStem } from '../parts/source-name.ts';

const LOOKED_AT = 8;

/** Thought that the evaluation script writes for its own `submit` at the turn limit. */
const SCRIPT_SUBMIT_THOUGHT = 'EXCEEDED MAX TURNS: submit';

/** Matches refusals that the environments also write without a flag, or with the flag of the previous turn. */
const REFUSAL = /^(?:Error executing query\b|Malformed command\b|Format your \w+ command as follows\b)/;

/** Matches a result of `ic_python`, which is a printed dictionary. Its `error` field is absent or empty on success. */
const PYTHON_RESULT = /^\{'(?:output|error)': /;
const PYTHON_FAILURE = /'error': (?!''|""|None)/;

/** Matches the environment's verdict on the answer. A verdict is not a failure of the tool. */
const VERDICT = /^(?:Failed (?:\d+\/\d+ )?Test Cases?\b|Test case did not pass\b)/;

/**
 * Reads InterCode results: an object of id to `{environment, query, turn_history: {actions, observations,
 * rewards, valid_action?, thoughts?}, summary}`. One run per id, named `<file stem>/<id>`.
 *
 * Counting rule: every text in `actions` is one call in one turn, except the `submit` of the evaluation
 * script (identified by its thought). Tool: `submit` for `submit …`, else by environment: `ic_sql` → `sql`,
 * `ic_python` → `python`, `ic_bash` → `bash`, `ic_ctf` → `python` for `python3 …`, else `bash`. Args are
 * `{command}` without the wrappers `cmd …` and `execute[…]`.
 *
 * `is_error` is `valid_action` negated; if that is absent, and for the environments' refusals, the text
 * decides. Reward is `summary.max_reward`; success is reward 1.
 */
export const intercodeImporter: DocumentImporter = {
  shape: 'document',
  format: 'intercode',
  recognise(document) {
    if (!isJsonObject(document)) return 0;
    const episodes = Object.values(document).slice(0, LOOKED_AT);
    if (episodes.length === 0 || !isEpisode(episodes[0])) return 0;
    return episodes.filter((episode) => isEpisode(episode)).length / episodes.length;
  },
  *read(document, source: ImportSource) {
    const skipCounts = new SkipCounts();
    for (const [id, episode] of Object.entries(membersOf(document))) {
      if (isEpisode(episode)) yield* episodeItems(episode, `${sourceStem(source.name)}/${id}`);
      else skipCounts.add('entries without turn_history.actions');
    }
    yield* skipCounts.report('error');
  },
};

function isEpisode(value: unknown): value is JsonMembers {
  return isJsonObject(value) && Array.isArray(membersOf(value.turn_history).actions);
}

function* episodeItems(episode: JsonMembers, id: string): Generator<ImportItem> {
  const task = textOrUndefined(episode.query);
  const items = new RunItems(id);
  yield items.begin('intercode', { task });
  if (task !== undefined) yield items.message('user', task, undefined);
  const history = membersOf(episode.turn_history);
  const observations = listOf(history.observations);
  const validActions = listOf(history.valid_action);
  const thoughts = listOf(history.thoughts);
  let atLimit = false;
  for (const [index, action] of listOf(history.actions).entries()) {
    const thought = textOrUndefined(thoughts[index]);
    if (thought === SCRIPT_SUBMIT_THOUGHT) {
      atLimit = true;
      items.skipped.add('submits of the evaluation script at the turn limit');
    } else if (typeof action !== 'string') {
      items.lost.add('actions that are not text');
    } else {
      const parts = [
        ...(thought === undefined ? [] : [{ type: 'text' as const, text: thought }]),
        { type: 'call' as const, call: callOf(action, episode.environment) },
      ];
      yield* items.answer({ parts }, undefined);
      const observation = observations[index];
      if (observation !== undefined && observation !== null)
        yield* resultItems(items, observation, validActions[index]);
    }
  }
  yield* items.finish(outcomeOf(episode, atLimit));
}

function callOf(action: string, environment: unknown): CallShape {
  const command = /^execute\[([^]*)\]\s*$/.exec(action)?.[1] ?? action;
  if (/^submit\b/.test(command)) return { name: 'submit', args: { command } };
  switch (environment) {
    case 'ic_sql':
      return { name: 'sql', args: { command } };
    case 'ic_python':
      return { name: 'python', args: { command } };
    case 'ic_ctf':
      if (/^python3?\b/.test(command)) return { name: 'python', args: { command } };
      return { name: 'bash', args: { command: command.replace(/^cmd\s+/, '') } };
    default:
      return { name: 'bash', args: { command } };
  }
}

function resultItems(items: RunItems, observation: unknown, isValidAction: unknown): readonly ImportItem[] {
  const text = typeof observation === 'string' ? observation : '';
  const isRefused = REFUSAL.test(text);
  const isError = typeof isValidAction === 'boolean' && (!isValidAction || !isRefused) ? !isValidAction : undefined;
  const isVerdict = VERDICT.test(text);
  const isPython = PYTHON_RESULT.test(text);
  const readsAsError = isRefused ? true : isVerdict ? false : isPython ? PYTHON_FAILURE.test(text) : undefined;
  return items.result({ result: asJson(observation), isError, readsAsError }, undefined);
}

function outcomeOf(episode: JsonMembers, atLimit: boolean): RunEnded | undefined {
  const summary = membersOf(episode.summary);
  const reward = numberOrUndefined(summary.max_reward);
  const turnsTaken = numberOrUndefined(summary.turns_taken);
  if (reward === undefined && turnsTaken === undefined) return undefined;
  const isExhausted = atLimit || (turnsTaken !== undefined && turnsTaken === summary.turns_max && reward !== 1);
  const hardness = textOrUndefined(episode.hardness);
  return runEnded(isExhausted ? 'limit' : 'ended', {
    reward,
    success: reward === undefined ? undefined : reward === 1,
    labels: hardness === undefined ? undefined : { hardness },
  });
}
