/** The number of a call for people: indices are stored from 0 and shown from 1. */
export function callNumber(index: number): number {
  return index + 1;
}
