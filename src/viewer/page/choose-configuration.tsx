import type { ReactElement } from 'react';

import { getConfigurations, type TrialChoice } from './api.ts';

import { safeLine } from './safe-text.ts';
import { useLoaded } from './use-loaded.ts';

/** Renders two selects: the configuration to replay runs under, and the baseline configuration. */
export function ChooseConfiguration(props: {
  readonly trial: TrialChoice | undefined;
  readonly onChoose: (trial: TrialChoice | undefined) => void;
}): ReactElement {
  const { onChoose, trial } = props;
  const { value } = useLoaded('configurations', getConfigurations);
  const choices = value?.configurations ?? [];
  const renderOption = ({ id, name }: (typeof choices)[number]): ReactElement => (
    <option key={id} value={id}>
      {safeLine(name).slice(0, 60)}
    </option>
  );
  const against = trial?.against ?? 'recorded';
  return (
    <div className="choose-configuration">
      <label>
        Replay under
        <select
          value={trial?.under ?? ''}
          onChange={({ target: { value: under } }) => onChoose(under === '' ? undefined : { under, against })}
        >
          <option value="">choose a configuration</option>
          {choices.filter(({ id }) => id !== 'recorded').map(renderOption)}
        </select>
      </label>
      <label>
        Compared with
        <select
          value={against}
          disabled={trial === undefined}
          onChange={({ target }) => {
            if (trial !== undefined) onChoose({ ...trial, against: target.value });
          }}
        >
          {choices.map(renderOption)}
        </select>
      </label>
    </div>
  );
}
