import type { ReactElement } from 'react';

import { countOf, usdText } from '../../core/base/number-text.ts';
import type { FailingCause } from '../server/api-shapes.ts';
import { getFailing } from './api.ts';
import { Link } from './link.tsx';
import { safeLine } from './safe-text.ts';
import { useLoaded } from './use-loaded.ts';

/** Below the list, so that no row moves when it appears. */
export function FailingCauses(): ReactElement | null {
  const { value } = useLoaded('failing', getFailing);
  if (value === undefined || value.causes.length === 0) return null;
  return (
    <section className="failing" aria-label="What keeps failing">
      <h2>What keeps failing</h2>
      <ul>
        {value.causes.map((cause) => (
          <Cause key={`${cause.name} ${cause.cause}`} {...cause} />
        ))}
      </ul>
      {value.leftOut === 0 ? null : (
        <p className="dim">
          {countOf(value.leftOut, 'more cause')}: <code>coxswain failures</code>
        </p>
      )}
    </section>
  );
}

function Cause({ calls, cause, costUsd = 0, example, name, sessions, worked }: FailingCause): ReactElement {
  const title = <b>{safeLine(name)}</b>;
  const to = example && { page: 'run' as const, run: example, call: example.call };
  return (
    <li>
      {to === undefined ? title : <Link to={to}>{title}</Link>}: {safeLine(cause)}
      <span className="dim">
        {' '}
        {countOf(sessions, 'session')}, cost {countOf(calls, 'call')}
        {costUsd >= 0.005 ? `, ${usdText(costUsd)}` : ''}
        {worked === undefined ? '' : `; then worked: ${safeLine(worked)}`}
      </span>
    </li>
  );
}
