import { useMemo, useState } from 'react';

import { countOf } from '../../core/base/number-text.ts';
import type { Label, LabelTarget } from '../../lab/labels.ts';
import { getLabels, putLabel, type RunAddress } from './api.ts';
import type { Rows } from './rows.ts';
import { asError, useLoaded } from './use-loaded.ts';

export const LABEL_WORDS: Readonly<Record<LabelTarget, string>> = { stuck: 'stuck', ok: 'fine', skip: 'cannot say' };
const MAX_MARKS = 200;

export interface Labels {
  readonly file: string | undefined;
  /** The call that `setLabel` labels. Undefined if it labels the run. */
  readonly call: number | undefined;
  readonly target: LabelTarget | undefined;
  readonly summary: string | undefined;
  readonly marks: ReadonlyMap<number, string>;
  /** The note of the label. Without a label, the note is kept for the next label. */
  readonly note: string;
  readonly setNote: (note: string) => void;
  /** Labels a call, by default the chosen one. If no call is chosen, it labels the run. Null removes the label. */
  readonly setLabel: (target: LabelTarget | null, call?: number) => void;
  readonly labelOf: (call: number) => LabelTarget | undefined;
  readonly undo: () => void;
}

export interface LabelHooks {
  readonly say: (text: string) => void;
  readonly onLabelled: () => void;
  readonly onUndone: () => void;
}

let replacedLabel: { readonly id: string; readonly target: LabelTarget | null; readonly note: string } | undefined;

/**
 * @param place.selected  `seq` of the chosen row; the call at or before it is labelled
 * @param place.call  the call to label before its row is known
 */
export function useLabels(
  run: RunAddress,
  place: { readonly rows: Rows; readonly selected: number | undefined; readonly call: number | undefined },
  { onLabelled, onUndone, say }: LabelHooks,
): Labels {
  const loadedLabels = useLoaded('labels', getLabels);
  const [writtenLabels, setWrittenLabels] = useState<typeof loadedLabels.value>();
  const labels = writtenLabels ?? loadedLabels.value;
  const { runId, source } = run;
  const { rows, selected } = place;
  const call = place.call ?? (selected === undefined ? undefined : rows.callAt(selected) || undefined);
  const id = call === undefined ? runId : `${runId}@${call}`;
  const row = `${source}/${runId} ${selected ?? ''}`;
  const [draft, setDraft] = useState<{ readonly row: string; readonly note: string }>();
  const runLabels = useMemo(() => labelsOf(runId, labels?.labels ?? []), [runId, labels]);
  const marks = useMemo(() => marksOf(runLabels, runId, rows), [runLabels, runId, rows]);
  const write = (labelId: string, target: LabelTarget | null, note: string | undefined): Promise<void> =>
    putLabel(labelId, target, note).then(setWrittenLabels);
  const setLabel = async (target: LabelTarget | null, ofCall?: number): Promise<void> => {
    const callNumber = ofCall ?? call;
    const labelId = callNumber === undefined ? runId : `${runId}@${callNumber}`;
    const previousLabel = labels?.labels.find((label) => label.id === labelId);
    replacedLabel = { id: labelId, target: previousLabel?.target ?? null, note: previousLabel?.note ?? '' };
    await write(labelId, target, ofCall === undefined && draft?.row === row ? draft.note : undefined);
    if (ofCall === undefined) setDraft(undefined);
    const subject = callNumber === undefined ? 'The run' : `Call ${callNumber}`;
    say(target === null ? `${subject} has no label now.` : `${subject}: ${LABEL_WORDS[target]}.`);
    if (target !== null) onLabelled();
  };
  const undoLabel = async (): Promise<void> => {
    if (replacedLabel === undefined) {
      say('No label to undo.');
      return;
    }
    const { id: labelId, note, target } = replacedLabel;
    replacedLabel = undefined;
    await write(labelId, target, note);
    onUndone();
    say(`${labelId}: ${target === null ? 'no label' : LABEL_WORDS[target]}.`);
  };
  const sayError = (error: unknown): void => say(asError(error).message);
  const label = runLabels.find((runLabel) => runLabel.id === id);
  return {
    file: labels?.file,
    call,
    target: label?.target,
    summary: labelText(runLabels, runId),
    marks,
    note: draft?.row === row ? draft.note : (label?.note ?? ''),
    setNote: (note) => setDraft({ row, note }),
    setLabel: (target, ofCall) => void setLabel(target, ofCall).catch(sayError),
    labelOf: (ofCall) => runLabels.find((runLabel) => runLabel.id === `${runId}@${ofCall}`)?.target,
    undo: () => void undoLabel().catch(sayError),
  };
}

export function labelsOf(runId: string, labels: readonly Label[]): readonly Label[] {
  return labels.filter(({ id }) => id === runId || (id.startsWith(runId) && /^@\d+$/.test(id.slice(runId.length))));
}

export function labelText(labels: readonly Label[], runId: string): string | undefined {
  const runLabel = labels.find(({ id }) => id === runId);
  const callLabelCount = labels.length - (runLabel === undefined ? 0 : 1);
  const words = [
    ...(runLabel === undefined ? [] : [LABEL_WORDS[runLabel.target]]),
    ...(callLabelCount === 0 ? [] : [countOf(callLabelCount, 'moment')]),
  ];
  return words.length === 0 ? undefined : words.join(', ');
}

function marksOf(labels: readonly Label[], runId: string, rows: Rows): ReadonlyMap<number, string> {
  const callLabels = labels.filter(({ id }) => id !== runId).slice(0, MAX_MARKS);
  return new Map(
    callLabels.flatMap(({ id, target }) => {
      const seq = rows.seqOf(Number(id.slice(id.lastIndexOf('@') + 1)));
      return seq === undefined ? [] : [[seq, LABEL_WORDS[target]] as const];
    }),
  );
}
