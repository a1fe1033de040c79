import { spillNote } from '../../runs/spill-note.ts';
import { failed, passed, unknown, type DoctorLine } from './doctor-line.ts';

/** Checks the hook events in spill files. Waiting events are normal under load. Damaged or rejected events fail the check. */
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
