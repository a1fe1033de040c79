/** The number by which people know a call: calls are stored by their index, from 0, and shown from 1. */
export function callNumber(index: number): number {
  return index + 1;
}
