import type { ToolKind } from '../../calls/tool-kind.ts';

/** The kinds of tools in stacking order, with their names and colours. */
export const KIND_STYLES: readonly { readonly kind: ToolKind; readonly name: string; readonly colour: string }[] = [
  { kind: 'read', name: 'read', colour: '--kind-read' },
  { kind: 'write', name: 'write', colour: '--kind-write' },
  { kind: 'execute', name: 'run', colour: '--kind-execute' },
  { kind: 'ui', name: 'screen', colour: '--kind-ui' },
  { kind: 'poll', name: 'poll', colour: '--kind-poll' },
  { kind: 'wait', name: 'wait', colour: '--kind-wait' },
  { kind: 'note', name: 'note', colour: '--kind-note' },
  { kind: 'unknown', name: 'other', colour: '--kind-unknown' },
];

/** Returns the colour of a kind as a CSS value. */
export function kindColour(kind: ToolKind): string {
  return `var(--kind-${kind})`;
}
