import { useState, type ReactElement } from 'react';

import { countOf } from '../../base/number-text.ts';
import type { LabelTarget } from '../../backtest/labels.ts';
import { putLabel, shareAddress } from './api.ts';
import { Link } from './link.tsx';
import { addressOf, type Route } from './route.ts';
import { LABEL_WORDS } from './use-labels.ts';
import { asError } from './use-loaded.ts';

/** Maximum number of runs shown side by side. */
const MAX_ALIGNED = 24;
const TARGETS: readonly LabelTarget[] = ['stuck', 'ok', 'skip'];

/** Shows the actions for the runs that are selected in the list. */
export function ChosenRuns(props: {
  /** Run keys in the order of the list. */
  readonly keys: readonly string[];
  readonly isWritable: boolean;
  readonly onClear: () => void;
  readonly onLabelled: () => void;
}): ReactElement | null {
  const { isWritable, keys, onClear, onLabelled } = props;
  const [status, setStatus] = useState('');
  if (keys.length === 0) return null;
  const labelRuns = async (target: LabelTarget): Promise<void> => {
    try {
      for (const key of keys) await putLabel(addressOf(key).runId, target);
      setStatus(`${countOf(keys.length, 'run')}: ${LABEL_WORDS[target]}.`);
      onLabelled();
    } catch (error) {
      setStatus(asError(error).message);
    }
  };
  const [a = '', b = ''] = keys;
  const compare: Route =
    keys.length === 1
      ? { page: 'compare', a }
      : keys.length === 2
        ? { page: 'compare', a, b }
        : { page: 'compare', runs: keys.slice(0, MAX_ALIGNED) };
  return (
    <div className="banner chosen" role="group" aria-label="Chosen runs">
      <b>{countOf(keys.length, 'run')} chosen</b>
      <Link className="button" to={compare}>
        Compare
      </Link>
      {isWritable
        ? TARGETS.map((target) => (
            <button key={target} type="button" onClick={() => void labelRuns(target)}>
              {LABEL_WORDS[target]}
            </button>
          ))
        : null}
      <a className="button" href={shareAddress(keys)} download>
        Share as one file
      </a>
      <button type="button" className="quiet" onClick={onClear}>
        Clear
      </button>
      <span role="status">{status}</span>
    </div>
  );
}
