/**
 * How thorough the tests of faults are. `npm test` runs a short form of each; `npm run test:faults` runs the full one, with
 * `COXSWAIN_FAULTS=full`. `COXSWAIN_ROUNDS` sets any other number of rounds, for a search.
 */
export const thorough: boolean = process.env['COXSWAIN_FAULTS'] === 'full';

/** Why a test that only `npm run test:faults` runs is skipped; part of its name. */
export const inFaults: string = thorough ? '' : ' (skipped: npm run test:faults)';

/** The number of rounds of a test of faults. */
export function rounds({ full, short }: { readonly full: number; readonly short: number }): number {
  return Number(process.env['COXSWAIN_ROUNDS'] ?? (thorough ? full : short));
}
