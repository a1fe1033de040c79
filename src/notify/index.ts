/** What users import from `coxswain/notify`. */
export type { NotifyEvent } from './notification.ts';
export { notifySink, type NotifyOptions, type NotifySink } from './notify-sink.ts';
