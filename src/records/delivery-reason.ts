/** Reason in delivery records of an experiment. */
export const WITHHELD_REASON = 'withheld by experiment';

/** Reason in delivery records of shadow mode. */
export const SHADOW_REASON = 'shadow mode';
