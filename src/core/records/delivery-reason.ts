/** The reason in delivery records when an experiment withholds advice. */
export const WITHHELD_REASON = 'withheld by experiment';

/** The reason in delivery records in shadow mode. */
export const SHADOW_REASON = 'shadow mode';
