import { useCallback, useState } from 'react';

import type { RunAnswer } from '../api-shapes.ts';
import type { LabelTarget } from '../../backtest/labels.ts';
import { getLabels, putLabel, type RunAddress } from './api.ts';
import type { RecordPages } from './record-pages.ts';
import { asError, useLoaded } from './use-loaded.ts';

const WORDS: Readonly<Record<LabelTarget, string>> = { stuck: 'stuck', ok: 'fine', skip: 'cannot say' };

/** Labels of a run, and a way to set one. */
export interface Labels {
  /** Of the run as a whole, or how many of its moments have one; undefined where none has. */
  readonly current: string | undefined;
  /** Labels the call at or before a record, or the run where none is selected; null takes the label away. */
  readonly put: (selected: number | undefined, target: LabelTarget | null) => Promise<void>;
}

/** The labels of one run, from the file that the viewer was started with. */
export function useLabels(run: RunAddress, answer: RunAnswer, pages: RecordPages, say: (text: string) => void): Labels {
  const loaded = useLoaded('labels', getLabels);
  const [written, setWritten] = useState<typeof loaded.value>();
  const labels = written ?? loaded.value;
  const { overview } = answer;
  const put = useCallback(
    async (selected: number | undefined, target: LabelTarget | null) => {
      if (labels !== undefined && labels.file === null) {
        say('Start the viewer with --labels FILE to label.');
        return;
      }
      try {
        const call = selected === undefined ? undefined : await callAt(selected, overview, pages);
        const id = call === undefined ? run.runId : `${run.runId}@${call}`;
        setWritten(await putLabel(id, target));
        const what = call === undefined ? 'The run' : `Call ${call}`;
        say(target === null ? `${what} has no label now.` : `${what}: ${WORDS[target]}.`);
      } catch (error) {
        say(asError(error).message);
      }
    },
    [labels, overview, pages, run.runId, say],
  );
  const own = labels?.labels.filter(({ id }) => id === run.runId || id.replace(/@\d+$/, '') === run.runId) ?? [];
  const whole = own.find(({ id }) => id === run.runId);
  const moments = own.length - (whole === undefined ? 0 : 1);
  const words = [...(whole === undefined ? [] : [WORDS[whole.target]]), ...(moments === 0 ? [] : [`${moments}×`])];
  return { current: words.length === 0 ? undefined : words.join(', '), put };
}

/** Index of the call that a record belongs to: of the last one that had begun. */
async function callAt(seq: number, overview: RunAnswer['overview'], pages: RecordPages): Promise<number> {
  const bucket = Math.min(overview.buckets - 1, Math.floor(seq / overview.seqsPerBucket));
  let calls = overview.firstCall[bucket] ?? 0;
  for (let at = bucket * overview.seqsPerBucket; at <= seq; at += 1) {
    await pages.ensure(at);
    if (pages.at(at)?.payload.kind === 'tool_started') calls += 1;
  }
  return Math.max(0, calls - 1);
}
