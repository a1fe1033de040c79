import { problemText } from '../../../hosts/config/config-problem.ts';
import { untrustedText, type LoadedConfig } from '../../../hosts/config/loaded-config.ts';
import { failed, passed, unknown, type DoctorLine } from './doctor-line.ts';

/** Reports errors in the configuration, and files that are ignored for lack of trust. */
export function checkConfig({ problems, sources, untrusted }: LoadedConfig): readonly DoctorLine[] {
  const [problem] = problems;
  const files = sources.map(({ file }) => file).join(', ');
  const moreText = (count: number): string => (count > 1 ? ` and ${count - 1} more` : '');
  const ignored = untrustedText({ untrusted });
  return [
    problem === undefined
      ? passed('configuration', files === '' ? 'none: the standard steering applies' : files)
      : failed(
          'configuration',
          `${problem.file === undefined ? '' : `${problem.file}: `}${problemText(problem)}${moreText(problems.length)}`,
          'Run coxswain config check; wrong fields are ignored.',
        ),
    ...(ignored === undefined
      ? []
      : [unknown('trust', ignored, 'Read the file, then run coxswain trust if it should apply.')]),
  ];
}
