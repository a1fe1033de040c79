import type { ReactElement, ReactNode } from 'react';

import type { RunFilters } from './api.ts';
import { Link } from './link.tsx';
import { useRoute } from './use-route.ts';

export function FilterTag(props: {
  readonly filters: RunFilters;
  readonly className?: string;
  readonly title?: string;
  readonly children: ReactNode;
}): ReactElement {
  const route = useRoute();
  const filters = { ...(route.page === 'runs' ? route.filters : {}), ...props.filters };
  return (
    <Link
      className={`tag ${props.className ?? ''}`}
      to={{ page: 'runs', filters }}
      title={props.title ?? 'Runs that have this too'}
    >
      {props.children}
    </Link>
  );
}
