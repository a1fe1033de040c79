import { useCallback, useMemo, type ReactElement } from 'react';

import type { ListedRow } from '../server/api-shapes.ts';
import { ChildRunsContext } from './call-view.tsx';
import { ConversationView } from './conversation.tsx';
import { FoldedTextContext } from './folded-text.tsx';
import { ErrorNotice, Notice } from './notice.tsx';
import { goTo } from './use-route.ts';
import { useRunModel } from './use-run-model.ts';

export function viewChildRun(run: ListedRow): ReactElement {
  return <ChildConversation run={run} />;
}

/** The conversation of a child run, below the call that started it. A chosen row opens on the page of the child run. */
function ChildConversation({ run: { live, runId, source } }: { readonly run: ListedRow }): ReactElement {
  const { answer, error, fetchWhole, pages, reload, rows } = useRunModel({ source, runId }, 0, live);
  const onSelect = useCallback((at: number) => goTo({ page: 'run', run: { source, runId }, at }), [source, runId]);
  const surroundings = useMemo(() => ({ words: [], unfolded: new Set<string>(), fetchWhole }), [fetchWhole]);
  const children = useMemo(() => ({ runs: answer?.children ?? [], view: viewChildRun }), [answer]);
  if (error !== undefined) return <ErrorNotice error={error} onRetry={reload} />;
  if (answer === undefined || pages === undefined) return <Notice title="Loading the run…" />;
  return (
    <ChildRunsContext value={children}>
      <FoldedTextContext value={surroundings}>
        <ConversationView rows={rows} pages={pages} overview={answer.overview} onSelect={onSelect} />
      </FoldedTextContext>
    </ChildRunsContext>
  );
}
