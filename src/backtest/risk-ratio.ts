import { rounded } from './statistics.ts';

/** The two-sided 95 % quantile of the normal distribution. */
const Z = 1.959963984540054;

/** What came out in both arms of one stratum: runs of which the arms were drawn in the same way. */
export interface RiskStratum {
  readonly treated: { readonly events: number; readonly of: number };
  readonly control: { readonly events: number; readonly of: number };
}

/** A ratio of risks, treated to control, with its 95 % interval. */
export interface RiskRatio {
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
}

/**
 * The risk ratio of treated to control. Of one stratum it is the plain ratio with the interval of the log method (D. Katz,
 * J. Baptista, S. P. Azen and M. C. Pike, "Obtaining confidence intervals for the risk ratio in cohort studies", Biometrics
 * 34, 1978); of several the Mantel-Haenszel ratio with the variance of S. Greenland and J. M. Robins ("Estimation of a
 * common effect parameter from sparse follow-up data", Biometrics 41, 1985), which is the same for one. A stratum with one
 * arm only says nothing.
 *
 * @returns undefined where either side has no event
 */
export function riskRatioOf(strata: readonly RiskStratum[]): RiskRatio | undefined {
  let above = 0;
  let below = 0;
  let variance = 0;
  for (const { treated, control } of strata) {
    if (treated.of === 0 || control.of === 0) continue;
    const all = treated.of + control.of;
    above += (treated.events * control.of) / all;
    below += (control.events * treated.of) / all;
    const events = treated.events + control.events;
    variance += (events * treated.of * control.of - treated.events * control.events * all) / (all * all);
  }
  if (above === 0 || below === 0) return undefined;
  const ratio = above / below;
  const spread = Math.exp(Z * Math.sqrt(Math.max(0, variance) / (above * below)));
  return { ratio: rounded(ratio), low: rounded(ratio / spread), high: rounded(ratio * spread) };
}
