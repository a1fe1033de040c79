import { defineSlice, type Slice, type SliceView } from './define-slice.ts';
import { amend, append } from './slice-operation.ts';
import { ToolInvokedEvent } from './tool-invoked.ts';

/** Number of finished tool calls of one prompt. */
export interface ToolCallCount {
  readonly promptName: string;
  /** The exact number, even if `ToolInvoked` no longer retains the calls. */
  readonly calls: number;
}

/** The slice has one item per prompt, in order of first use. It is registered in every session. */
export const ToolCallCount: Slice<ToolCallCount> = defineSlice<ToolCallCount>('tool-call-count').on(
  ToolInvokedEvent,
  (view, event) => {
    const { promptName } = event.data;
    const items = itemsOf(view);
    const position = items.findLastIndex((item) => item.promptName === promptName);
    const previous = position < 0 ? undefined : items[position];
    return previous === undefined
      ? append({ promptName, calls: 1 })
      : amend(position, { promptName, calls: previous.calls + 1 });
  },
);

/** Returns the number of calls of a prompt. Cost: O(prompts used). */
export function toolCallCount(view: SliceView<ToolCallCount>, promptName: string): number {
  return itemsOf(view).findLast((item) => item.promptName === promptName)?.calls ?? 0;
}

/** Avoids `all`, which freezes a new list after each change. Nearly every run has only one prompt. */
function itemsOf(view: SliceView<ToolCallCount>): readonly ToolCallCount[] {
  return view.total() === 1 ? view.last(1) : view.all();
}
