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
  'unknownTypes',
  'lateEvents',
  'crowded',
] as const;

/**
 * Faults in the input from a host. Each fault is repaired or refused, and counted.
 *
 * - `badTimes`: a time is negative or not a number; the clock's time is used
 * - `wrongUnits`: a time is in seconds, microseconds or nanoseconds; it is converted
 * - `farTimes`: a time is more than a minute ahead of the clock or ten years behind it; the clock's time is used
 * - `badNumbers`: a number is outside the range of its field; it is clamped, left out, or null inside a value
 * - `wrongTypes`: a field is missing or has the wrong type; it is converted, left out, or empty
 * - `cutValues`: a value exceeds the size limits; its head and tail are kept, with a mark that states the size
 * - `binaries`: a value contains bytes; their type, size and digest are stored
 * - `unreadable`: a getter, a proxy or a `toJSON` throws; a mark replaces the value
 * - `cycles`: a value contains itself; a mark replaces the inner value
 * - `refused`: an event cannot be read; it is not recorded
 * - `unknownTypes`: an event has a type that hosts do not emit, for example a misspelt one; it is recorded as `unrecognised`
 * - `lateEvents`: an event arrived after the end of its run; it is not recorded
 * - `crowded`: a provider or a subscriber emitted an event while too many events were waiting; it is not recorded
 */
export type InputFault = (typeof INPUT_FAULTS)[number];

/** @param detail  the field and its fault, without text from the agent */
export type NoteFault = (fault: InputFault, detail: string) => void;

/** The number of each fault since the start. A fault that did not occur is absent. */
export type InputCounts = Readonly<Partial<Record<InputFault, number>>>;
