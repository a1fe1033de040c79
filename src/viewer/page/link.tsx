import type { MouseEvent, ReactElement, ReactNode } from 'react';

import type { Route } from './route.ts';
import { findShared, sharedRun } from './shared-runs.ts';
import { goTo, hrefOf } from './use-route.ts';

export function Link(props: {
  readonly to: Route;
  readonly className?: string;
  readonly isCurrent?: boolean;
  readonly title?: string;
  readonly tabIndex?: number;
  readonly children: ReactNode;
}): ReactElement {
  // The runs of the list are not in a file that was shared.
  if (sharedRun !== undefined && (props.to.page !== 'run' || findShared(props.to.run.runId) === undefined))
    return (
      <span className={props.className} title={props.title}>
        {props.children}
      </span>
    );
  const onClick = (event: MouseEvent): void => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    goTo(props.to);
    // After a click, the keys belong to the new page and not to this link.
    if (event.detail > 0 && event.currentTarget instanceof HTMLElement) event.currentTarget.blur();
  };
  return (
    <a
      href={hrefOf(props.to)}
      className={props.className}
      title={props.title}
      tabIndex={props.tabIndex}
      aria-current={props.isCurrent === true ? 'page' : undefined}
      onClick={onClick}
    >
      {props.children}
    </a>
  );
}
