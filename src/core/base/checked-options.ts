import { expectedText, fitsShape, foundText } from './describe-shape.ts';
import { CoxswainError } from './error.ts';
import { nearestName } from './nearest-name.ts';
import { removedText } from './removed-names.ts';
import type { Shape, ShapesOf } from './shape.ts';

/**
 * Returns every option with its value or default. Used by built-in detectors, providers, observers and classifiers.
 *
 * @throws CoxswainError "invalid-definition" if an option is unknown or does not match its shape
 */
export function checkedOptions<Options extends object>(
  shapes: ShapesOf<Options>,
  options: Options | undefined,
): Required<Options> {
  const values: Readonly<Record<string, unknown>> = { ...options };
  for (const name of Object.keys(values)) if (!Object.hasOwn(shapes, name)) throw unknownOption(name, shapes);
  const entries = Object.entries<Shape>(shapes).map(([name, shape]) => [name, optionOf(name, values[name], shape)]);
  // Every option is present. The type of an option without a default includes undefined.
  return Object.fromEntries(entries) as Required<Options>;
}

function unknownOption(option: string, shapes: object): CoxswainError {
  const names = Object.keys(shapes);
  const nearest = nearestName(option, names);
  const hint = nearest === undefined ? `the options are ${names.join(', ')}` : `did you mean ${nearest}?`;
  const message = `there is no option ${option.slice(0, 64)}; ${removedText(option) ?? (names.length === 0 ? 'there are no options' : hint)}`;
  return new CoxswainError('invalid-definition', message, { details: { option } });
}

function optionOf(name: string, value: unknown, shape: Shape): unknown {
  if (value === undefined) return 'default' in shape ? shape.default : undefined;
  if (fitsShape(value, shape)) return value;
  throw new CoxswainError('invalid-definition', `${name} must be ${expectedText(shape)}, got ${foundText(value)}`, {
    details: { option: name },
  });
}
