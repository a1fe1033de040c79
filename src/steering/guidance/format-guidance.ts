import type { GuidanceInjection } from '../../records/guidance.ts';

/**
 * The text of guidance as the model reads it: the contents in order, a blank line between two. Undefined when there
 * is none, so `if (text)` is enough.
 */
export function formatGuidance(injections: readonly GuidanceInjection[]): string | undefined {
  return injections.length === 0 ? undefined : injections.map((injection) => injection.content).join('\n\n');
}
