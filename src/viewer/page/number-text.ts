const dayAndTime = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});
const dayOfYear = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });

/** Formats a date and time such as `Oct 12, 22:04`, in another year as `Oct 12, 2025`, or `—` if unknown. */
export function dayText(ms: number): string {
  if (ms <= 0) return '—';
  return (new Date(ms).getFullYear() === new Date().getFullYear() ? dayAndTime : dayOfYear).format(ms);
}

/** Formats a time such as `22:04:49`. */
export function clockText(ms: number): string {
  return ms > 0 ? clock.format(ms) : '';
}

export function fullTimeText(ms: number): string {
  return ms > 0 ? full.format(ms) : 'time not known';
}

/** Formats a duration such as `0.4 s`, `48 s`, `6 min 12 s`, `3 h 5 min`. */
export function spanText(ms: number): string {
  if (ms < 0) return '—';
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 || hours >= 10 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
