import { useEffect } from 'react';

const NAME = 'found';
const MAX_MARKS = 500;

/**
 * Marks the words of a search in a container after each of its changes, without changing its elements: Markdown and code stay as they are.
 * A word of one letter is marked where it stands alone.
 */
export function useMarkedWords(container: { readonly current: HTMLElement | null }, words: readonly string[]): void {
  useEffect(() => {
    const { current } = container;
    // Older browsers show the match without marks.
    if (current === null || words.length === 0 || typeof Highlight === 'undefined') return undefined;
    const mark = (): void => void CSS.highlights.set(NAME, new Highlight(...rangesOf(current, words)));
    mark();
    const observer = new MutationObserver(mark);
    observer.observe(current, { childList: true, characterData: true, subtree: true });
    return () => {
      observer.disconnect();
      CSS.highlights.delete(NAME);
    };
  }, [container, words]);
}

function rangesOf(container: HTMLElement, words: readonly string[]): readonly Range[] {
  const pattern = new RegExp(words.map(patternOf).join('|'), 'giu');
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(container, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null && ranges.length < MAX_MARKS; node = walker.nextNode()) {
    for (const { 0: found, index } of (node.nodeValue ?? '').matchAll(pattern)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + found.length);
      ranges.push(range);
    }
  }
  return ranges;
}

function patternOf(word: string): string {
  const escaped = word.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  return word.length === 1 ? `(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])` : escaped;
}
