/** Returns the number of a call as shown to people. Records count calls from 0; people see numbers from 1. */
export function callNumber(index: number): number {
  return index + 1;
}
