/** Every `InputFault`, in the order of their table in docs/recording.md. */
export const INPUT_FAULTS = [
  'badTimes',
  'wrongUnits',
  'farTimes',
  'badNumbers',
  'wrongTypes',
  'cutValues',
  'binaries',
  'unreadable',
  'cycles',
  'refused',
  'lateEvents',
  'crowded',
] as const;

/**
 * Faults of a host's input. Each is repaired or refused, and counted.
 *
 * - `badTimes`: a time that is not a number from 0; the clock's time is used
 * - `wrongUnits`: a time in seconds, microseconds or nanoseconds; it is converted
 * - `farTimes`: a time more than a minute ahead of the clock, or ten years behind it; the clock's time is used
 * - `badNumbers`: a number outside the range of its field; clamped, left out, or null inside a value
 * - `wrongTypes`: a field of another type than its own, or a missing one; converted, left out, or empty
 * - `cutValues`: a value over the limits of size; its head and tail stay, with a mark that tells the size
 * - `binaries`: bytes; stored as type, size and digest
 * - `unreadable`: a getter, a proxy or a `toJSON` that throws; a mark stands in its place
 * - `cycles`: a value inside itself; a mark stands in its place
 * - `refused`: an event that nothing could be made of; not recorded
 * - `lateEvents`: an event after the end of its run; not recorded
 * - `crowded`: an event from within a provider or a subscriber, where too many wait already; not recorded
 */
export type InputFault = (typeof INPUT_FAULTS)[number];

/** @param detail  the field and its fault, without text of the agent */
export type NoteFault = (fault: InputFault, detail: string) => void;

/** Number of each fault since the start; absent at 0. */
export type InputCounts = Readonly<Partial<Record<InputFault, number>>>;
