import { problemText } from '../../../hosts/config/config-problem.ts';
import type { LoadedConfig } from '../../../hosts/config/loaded-config.ts';
import { shownAddress } from '../../../stores/store-address.ts';
import { failed, passed, unknown, type DoctorLine } from './doctor-line.ts';

/** Reports errors in the configuration, and fields that are ignored because they require trust. */
export function checkConfig({ ignored, problems, sources }: LoadedConfig): readonly DoctorLine[] {
  const [problem] = problems;
  const files = sources.map(({ file }) => file).join(', ');
  const moreText = (count: number): string => (count > 1 ? ` and ${count - 1} more` : '');
  const [field] = ignored;
  return [
    problem === undefined
      ? passed('configuration', files === '' ? 'none: the standard steering applies' : files)
      : failed(
          'configuration',
          `${problem.file === undefined ? '' : `${problem.file}: `}${problemText(problem)}${moreText(problems.length)}`,
          'Run coxswain config check; wrong fields are ignored.',
        ),
    ...(field === undefined
      ? []
      : [
          unknown(
            'trust',
            `${field.file}: ${field.path === '' ? 'the file' : field.path} is ignored: ${field.why}${moreText(ignored.length)}`,
            'Read the file, then run coxswain trust if it should apply.',
          ),
        ]),
  ];
}

/** Checks whether the records folder of the project is used. */
export function checkRecords({ refusal, resolved }: LoadedConfig): DoctorLine {
  const check = 'records';
  if (refusal === undefined) return passed(check, `in ${shownAddress(resolved.store.address)}`);
  const found = `${refusal.folder} is refused: ${refusal.why}; runs are recorded in ${resolved.store.address}`;
  return failed(check, found, refusal.fix);
}
