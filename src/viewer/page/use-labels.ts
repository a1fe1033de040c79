import { useCallback, useState } from 'react';

import type { LabelTarget } from '../../backtest/labels.ts';
import { getCall, getLabels, putLabel, type RunAddress } from './api.ts';
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
export function useLabels(run: RunAddress, say: (text: string) => void): Labels {
  const loaded = useLoaded('labels', getLabels);
  const [written, setWritten] = useState<typeof loaded.value>();
  const labels = written ?? loaded.value;
  const put = useCallback(
    async (selected: number | undefined, target: LabelTarget | null) => {
      if (labels !== undefined && labels.file === null) {
        say('Start the viewer with --labels FILE to label.');
        return;
      }
      try {
        const call = selected === undefined ? undefined : ((await getCall(run, { seq: selected }))?.call ?? 0);
        const id = call === undefined ? run.runId : `${run.runId}@${call}`;
        setWritten(await putLabel(id, target));
        const what = call === undefined ? 'The run' : `Call ${call}`;
        say(target === null ? `${what} has no label now.` : `${what}: ${WORDS[target]}.`);
      } catch (error) {
        say(asError(error).message);
      }
    },
    [labels, run, say],
  );
  const own = labels?.labels.filter(({ id }) => id === run.runId || id.replace(/@\d+$/, '') === run.runId) ?? [];
  const whole = own.find(({ id }) => id === run.runId);
  const moments = own.length - (whole === undefined ? 0 : 1);
  const words = [...(whole === undefined ? [] : [WORDS[whole.target]]), ...(moments === 0 ? [] : [`${moments}×`])];
  return { current: words.length === 0 ? undefined : words.join(', '), put };
}
