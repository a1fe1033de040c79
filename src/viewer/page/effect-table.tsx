import type { ReactElement } from 'react';

import { countOf, countText } from '../../base/number-text.ts';
import { inWords } from '../../records/words.ts';
import type { ArmFigures, EffectExperiment, EffectReport } from '../../backtest/effect-report.ts';
import { shareOrDash } from './number-text.ts';
import { patternName } from './pattern-name.ts';
import { Table } from './report-tables.tsx';
import { safeLine } from './safe-text.ts';

const STATUS: Readonly<Record<EffectExperiment['status'], string>> = {
  helps: 'helps',
  harms: 'harms',
  'no-difference': 'no difference that matters',
  undecided: 'undecided',
  'too-little-data': 'too little data',
  'not-drawn': 'no experiment',
};

/** Shows the effect of recorded advice: delivered compared with withheld. */
export function EffectTable({ effect }: { readonly effect: EffectReport }): ReactElement {
  const { experiments, notes, providers, within } = effect;
  const title = `Effect of recorded advice, within ${countOf(within, 'call')}`;
  if (experiments.length === 0 && providers.length === 0) {
    return (
      <section>
        <h2>{title}</h2>
        <p className="dim">No advice was recorded in these runs.</p>
      </section>
    );
  }
  return (
    <>
      <Table title={title} head={['Advice on', 'Delivered', 'Withheld', 'Difference', '95 % interval', 'Verdict']}>
        {experiments.map(({ about, difference, high, low, name, status, told, withheld }) => (
          <tr key={`${about} ${name}`}>
            <th scope="row">{about === 'pattern' ? patternName(name) : safeLine(name)}</th>
            <Arm arm={told} />
            <Arm arm={withheld} />
            <td className="number">{pointsText(difference)}</td>
            <td className="number">{low === null ? '—' : `${pointsText(low)} to ${pointsText(high)}`}</td>
            <td>
              <span className={`tag ${status === 'helps' ? 'good' : status === 'harms' ? 'bad' : ''}`}>
                {STATUS[status]}
              </span>
            </td>
          </tr>
        ))}
      </Table>
      <ul className="notes">
        {providers.map(({ pieces, provider }) => (
          <li key={provider}>
            {safeLine(provider)}:{' '}
            {Object.entries(pieces)
              .filter(([, count]) => count > 0)
              .map(([arm, count]) => `${countText(count)} ${inWords('delivery', arm)}`)
              .join(', ')}
          </li>
        ))}
        {notes.map((note) => (
          <li key={note}>{safeLine(note)}</li>
        ))}
      </ul>
    </>
  );
}

function Arm({ arm }: { readonly arm: ArmFigures | null }): ReactElement {
  return (
    <td className="number">
      {arm === null ? (
        '—'
      ) : (
        <>
          {shareOrDash(arm.good.share)} <span className="dim">of {countText(arm.units)}</span>
        </>
      )}
    </td>
  );
}

/** Formats a difference of shares in percentage points. */
function pointsText(share: number | null): string {
  return share === null ? '—' : `${share > 0 ? '+' : ''}${(100 * share).toFixed(1)}`;
}
