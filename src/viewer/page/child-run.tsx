import { useCallback, useMemo, useRef, type ReactElement } from 'react';

import type { ListedRow } from '../server/api-shapes.ts';
import { ChildRunsContext } from './call-view.tsx';
import { ConversationView, type ConversationHandle } from './conversation.tsx';
import { FoldedTextContext } from './folded-text.tsx';
import { ErrorNotice, Notice } from './notice.tsx';
import { goTo } from './use-route.ts';
import { useRunModel } from './use-run-model.ts';

const NO_EVIDENCE: ReadonlySet<number> = new Set();
const NO_LABELS: ReadonlyMap<number, string> = new Map();

const stay = (): void => {};

export function viewChildRun(run: ListedRow): ReactElement {
  return <ChildConversation run={run} />;
}

/** The conversation of a child run, below the call that started it. A chosen row opens on the page of the child run. */
function ChildConversation({ run: { live, runId, source } }: { readonly run: ListedRow }): ReactElement {
  const { answer, error, fetchWhole, pages, reload, rows } = useRunModel({ source, runId }, 0, live);
  const handle = useRef<ConversationHandle | undefined>(undefined);
  const onSelect = useCallback((at: number) => goTo({ page: 'run', run: { source, runId }, at }), [source, runId]);
  const surroundings = useMemo(() => ({ words: [], unfolded: new Set<string>(), fetchWhole }), [fetchWhole]);
  const children = useMemo(() => ({ runs: answer?.children ?? [], view: viewChildRun }), [answer]);
  if (error !== undefined) return <ErrorNotice error={error} onRetry={reload} />;
  if (answer === undefined || pages === undefined) return <Notice title="Loading the run…" />;
  return (
    <ChildRunsContext value={children}>
      <FoldedTextContext value={surroundings}>
        <ConversationView
          rows={rows}
          pages={pages}
          selected={undefined}
          patterns={answer.overview.patterns}
          advice={answer.overview.advice}
          evidence={NO_EVIDENCE}
          labels={NO_LABELS}
          handle={handle}
          isFollowing={false}
          onSelect={onSelect}
          onLeftEnd={stay}
        />
      </FoldedTextContext>
    </ChildRunsContext>
  );
}
