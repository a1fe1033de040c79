import { shareOf } from '../../backtest/statistics.ts';
import { countText } from '../../base/number-text.ts';
import { shareText } from '../terminal/number-text.ts';

/** A share and its 95 % interval; null if unknown. */
interface KnownShare {
  readonly share: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

/** Formats a share of runs with its 95 % interval and its denominator: `25 % (8.9–53 %) of 12`. */
export function intervalText(part: number, whole: number): string {
  return ratioText(shareOf(part, whole), whole);
}

/** Formats a share with its 95 % interval and its denominator. `–` if the share is unknown. */
export function ratioText({ high, low, share }: KnownShare, whole: number): string {
  if (share === null || low === null || high === null) return '–';
  const [lowest, most] = [shareText(low, 1), shareText(high, 1)];
  return `${shareText(share, 1)} (${lowest.replace(' %', '')}–${most}) of ${countText(whole)}`;
}
