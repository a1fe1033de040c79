export { notifySink, type NotifyOptions, type NotifySink } from './notify-sink.ts';
