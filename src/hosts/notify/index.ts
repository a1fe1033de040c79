export type { NotifyEvent } from './notification.ts';
export { notifySink, type NotifyOptions, type NotifySink } from './notify-sink.ts';
