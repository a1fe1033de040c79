/** Why advice is not delivered in an experiment, as delivery records say it. */
export const WITHHELD_REASON = 'withheld by experiment';

/** Why advice is not delivered in shadow mode, as delivery records say it. */
export const SHADOW_REASON = 'shadow mode';
