import type { ToolKind } from '../../calls/tool-kind.ts';

/** Returns the colour of a kind as a CSS value. */
export function kindColour(kind: ToolKind): string {
  return `var(--kind-${kind})`;
}
