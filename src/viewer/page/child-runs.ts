import { createContext } from 'react';

import type { ToolStarted } from '../../core/records/trajectory-record.ts';
import type { ListedRow } from '../server/api-shapes.ts';
import { isObject } from './text-of.ts';

/** A shorter task text is not specific enough to identify a run. */
const MIN_TASK_CHARS = 12;

/** The child runs of the run on the page. The run page provides this context. */
export const ChildRunsContext = createContext<readonly ListedRow[]>([]);

/** Returns the run that a call started. It matches the child run by the call's id, or by a task in the call's arguments. */
export function childOf(call: ToolStarted, children: readonly ListedRow[]): ListedRow | undefined {
  if (children.length === 0) return undefined;
  const childById = children.find(({ runId }) => call.tool_call_id !== '' && runId.endsWith(call.tool_call_id));
  if (childById !== undefined) return childById;
  const texts = isObject(call.args) ? Object.values(call.args).filter((value) => typeof value === 'string') : [];
  return children.find(
    ({ task }) => task !== undefined && task.length >= MIN_TASK_CHARS && texts.some((text) => text.startsWith(task)),
  );
}
