import type { ReactElement } from 'react';

import type { LabelTarget } from '../../lab/labels.ts';
import { LABEL_WORDS, type Labels } from './use-labels.ts';

const BUTTONS: readonly (readonly [LabelTarget, string])[] = [
  ['stuck', 'y'],
  ['ok', 'n'],
  ['skip', 's'],
];

export function LabelBar({ labels }: { readonly labels: Labels }): ReactElement {
  const { call, target } = labels;
  return (
    <div className="label-bar" role="group" aria-label="Label">
      <span>{call === undefined ? 'The run is' : `At call ${call} the agent is`}</span>
      {BUTTONS.map(([name, key]) => (
        <button key={name} type="button" aria-pressed={target === name} onClick={() => labels.setLabel(name)}>
          {LABEL_WORDS[name]} <kbd>{key}</kbd>
        </button>
      ))}
      {target === undefined ? null : (
        <button type="button" onClick={() => labels.setLabel(null)}>
          remove <kbd>u</kbd>
        </button>
      )}
      <input
        aria-label="Note"
        placeholder="note"
        maxLength={2_000}
        value={labels.note}
        onChange={(event) => labels.setNote(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          if (target !== undefined) labels.setLabel(target);
          event.currentTarget.blur();
        }}
      />
      <a href="/api/labels.csv" download="labels.csv" title={labels.file}>
        labels.csv
      </a>
    </div>
  );
}
