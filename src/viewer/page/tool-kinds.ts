import type { ToolKind } from '../../core/detect/calls/tool-kind.ts';

/** Returns the colour of a kind as a CSS value. */
export function kindColour(kind: ToolKind): string {
  return `var(--kind-${kind})`;
}
