import { flag, list, object, text, type ShapesOf } from '../../base/shape.ts';
import { defineDetector, countShape, type DetectorFactory } from './define-detector.ts';
import { gradeCount, appendEvidence } from './level.ts';

/** A tool that should be used, and its substitutes. */
export interface Recommendation {
  /** Names of the recommended tool; any of them counts as using it. */
  readonly tools: readonly string[];
  /** Programs or tools used instead. */
  readonly insteadOf: readonly string[];
  /** True if the run certainly has the tool; by default it counts as available once it was used. */
  readonly available?: boolean;
}

/** Options of `toolAvoidanceDetector`. */
export interface ToolAvoidanceOptions {
  /** Tools and their substitutes; default: search and file tools of coding agents, and their shell programs. */
  readonly recommendations?: readonly Recommendation[];
  /** Substitutes in a row, without the recommended tool, at which it warns; default 10. */
  readonly warnAt?: number;
}

/** File tools of coding agents, and the shell programs that replace them. */
const DEFAULT_RECOMMENDATIONS: readonly Recommendation[] = [
  { tools: ['Grep', 'grep', 'grep_search', 'search_files'], insteadOf: ['grep', 'rg', 'egrep', 'ag'] },
  { tools: ['Read', 'read_file', 'view_file'], insteadOf: ['cat', 'head', 'tail'] },
  { tools: ['Glob', 'glob', 'find_files', 'file_search'], insteadOf: ['find', 'fd'] },
];

interface Entry {
  readonly available: boolean;
  readonly evidence: readonly number[];
  readonly count: number;
}

const toolOrProgram = text('the name of a tool or program', { maxChars: 128, pattern: () => /\S/ });

/**
 * The agent uses other programs or tools instead of the tool intended for the job. By default, a tool counts as available once the
 * run has used it, so no tool is recommended that may not exist.
 *
 * Warns at:
 * - 10 calls in a row (`warnAt`), such as `grep` in a shell although there is a search tool (`recommendations`).
 */
export const toolAvoidanceDetector: DetectorFactory<ToolAvoidanceOptions> = defineDetector<
  ToolAvoidanceOptions,
  readonly Entry[]
>(
  'tool_avoidance',
  {
    recommendations: list(
      object(
        {
          tools: list(toolOrProgram, 32, 1),
          insteadOf: list(toolOrProgram, 32, 1),
          available: flag(false),
        } satisfies ShapesOf<Recommendation>,
        { required: ['tools', 'insteadOf'], strict: true },
      ),
      32,
    ),
    warnAt: countShape(10),
  },
  ({ recommendations = DEFAULT_RECOMMENDATIONS, warnAt }, state) => {
    const entries = recommendations.map(
      ({ available = false }, position) => state?.[position] ?? { available, count: 0, evidence: [] },
    );
    return {
      observe({ tool: usedTool, program, index }) {
        const sightings = recommendations.flatMap(({ tools, insteadOf }, position) => {
          const { available = false, count = 0, evidence = [] } = entries[position] ?? {};
          if (tools.includes(usedTool)) entries[position] = { available: true, count: 0, evidence: [] };
          else if (available && insteadOf.includes(program)) {
            const entry = { available, count: count + 1, evidence: appendEvidence(evidence, index) };
            entries[position] = entry;
            const grade = gradeCount(entry.count, warnAt);
            const tool = tools[0] ?? '';
            if (grade !== undefined)
              return [
                {
                  kind: 'tool_avoidance',
                  key: tool,
                  stuck: false,
                  ...grade,
                  occurrences: entry.count,
                  tool,
                  evidence: entry.evidence,
                },
              ];
          }
          return [];
        });
        return sightings.slice(0, 1);
      },
      snapshot: () => entries,
    };
  },
);
