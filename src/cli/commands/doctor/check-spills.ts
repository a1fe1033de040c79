import { spillNote } from '../../runs/spill-note.ts';
import { failed, passed, unknown, type DoctorLine } from './doctor-line.ts';

/** Hook events that lie beside the store and are not in it: waiting is usual under load, damaged or refused is a failure. */
export function checkSpills(storeAddress: string): DoctorLine {
  const check = 'spilled events';
  const { unusable, waiting } = spillNote(storeAddress);
  if (unusable !== undefined) {
    const found = waiting === undefined ? unusable : `${unusable}; ${waiting}`;
    return failed(check, found, 'They cannot be read: the line about problems says why. Then delete these files.');
  }
  if (waiting === undefined) return passed(check, 'none');
  return unknown(
    check,
    waiting,
    'They are taken in with the next event. If they stay, the line about problems says why.',
  );
}
