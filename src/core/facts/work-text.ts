import { countOf, countText } from '../base/number-text.ts';
import type { RunWork } from './run-work.ts';

const SHOWN_PULL_REQUESTS = 3;

/** Returns the commits in words: `3 commits on main, 1 of them with --no-verify`. Empty without commits. */
export function commitsText({
  commits,
  commitsOn = {},
  commitsWithoutHooks: without = 0,
  rewroteHistory,
}: Pick<RunWork, 'commits' | 'commitsOn' | 'commitsWithoutHooks' | 'rewroteHistory'>): readonly string[] {
  if (commits === 0) return [];
  const [first, ...others] = Object.entries(commitsOn);
  const named = Object.values(commitsOn).reduce((sum, count) => sum + count, 0);
  const places = others.length > 0 ? countOf(others.length + 1, 'branch', 'branches') : first?.[0];
  const where =
    places === undefined ? '' : named < commits ? `, ${countText(named)} of them seen on ${places}` : ` on ${places}`;
  const share = without === commits ? '' : `${countText(without)} of them `;
  const made = `${countOf(commits, 'commit')}${where}${without === 0 ? '' : `, ${share}with --no-verify`}`;
  return [made, ...(rewroteHistory === true ? ['then rewrote history'] : [])];
}

/** `https://github.com/a/b/pull/7, 6, 5 and 2 more`: of one repository only the first has its address. */
export function pullRequestsText({ pullRequests = [] }: Pick<RunWork, 'pullRequests'>): readonly string[] {
  const [first, ...others] = pullRequests;
  if (first === undefined) return [];
  const place = first.slice(0, first.lastIndexOf('/') + 1);
  const shown = others.slice(0, SHOWN_PULL_REQUESTS - 1);
  const names = shown.map((other) => (other.startsWith(place) ? other.slice(place.length) : other));
  const more = others.length - shown.length;
  return [`${[first, ...names].join(', ')}${more === 0 ? '' : ` and ${countText(more)} more`}`];
}

export function uncommittedText({ commits, uncommitted = 0 }: Partial<RunWork>): readonly string[] {
  if (uncommitted === 0) return [];
  return [`${countOf(uncommitted, 'file')} changed${commits === 0 ? ', no commit seen' : ' after the last commit'}`];
}

export function branchText({ branch, commitsOn = {} }: Pick<RunWork, 'branch' | 'commitsOn'>): readonly string[] {
  return branch === undefined || Object.hasOwn(commitsOn, branch) ? [] : [`branch ${branch}`];
}
