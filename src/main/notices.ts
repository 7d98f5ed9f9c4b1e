import { type AlertParts, type AlertServices, openAlerts } from './alerts.ts';
import { openWebhooks, type WebhookParts, type Webhooks } from './webhooks.ts';

type NoticeParts = WebhookParts & Omit<AlertParts, 'nudge'>;

/** Webhooks, and the alerts that they deliver. */
export function openNotices(parts: NoticeParts): { readonly webhooks: Webhooks; readonly alerts: AlertServices } {
  const webhooks = openWebhooks(parts);
  return { webhooks, alerts: openAlerts({ ...parts, nudge: () => webhooks.deliverer.nudge() }) };
}
