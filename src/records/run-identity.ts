import type { ShapeOf } from './field-types.ts';

/** Who a run is, as stored. A child run (a subagent) names its parent and lies one level deeper. */
export type RunIdentity = ShapeOf<'identity'>;
