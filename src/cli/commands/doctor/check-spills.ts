import { spillNote } from '../../runs/spill-note.ts';
import { failed, passed, unknown, type DoctorLine } from './doctor-line.ts';

/** Hook events in spill files: waiting ones are usual under load, damaged or refused ones are a failure. */
export function checkSpills(storeAddress: string): DoctorLine {
  const check = 'spilled events';
  const { unusable, waiting } = spillNote(storeAddress);
  if (unusable !== undefined) {
    const found = waiting === undefined ? unusable : `${unusable}; ${waiting}`;
    return failed(check, found, 'They cannot be read: see “problems noticed”. Then delete these files.');
  }
  if (waiting === undefined) return passed(check, 'none');
  return unknown(check, waiting, 'The next event records them. If they stay, see “problems noticed”.');
}
