import { queryOptions } from "@tanstack/react-query";

import { request } from "./client";
import type { Push, PushSubscriptionOf } from "./types";

export const pushQuery = queryOptions({
  queryKey: ["push"],
  queryFn: ({ signal }) => request<Push>("GET", "/api/push", { signal }),
});

/** Why this browser cannot get pushes, or nothing. */
export function whyNoPushes(): "insecure" | "missing" | undefined {
  if (!window.isSecureContext) return "insecure";
  return "serviceWorker" in navigator && "PushManager" in window && "Notification" in window ? undefined : "missing";
}

/** The subscription that this browser has, by its id at the server; nothing without one. */
export async function ownPushId(): Promise<string | undefined> {
  const subscription = await ownSubscription();
  return subscription && (await idOf(subscription.endpoint));
}

async function ownSubscription(): Promise<PushSubscription | undefined> {
  if (whyNoPushes() !== undefined) return undefined;
  const registration = await navigator.serviceWorker.getRegistration("/");
  return (await registration?.pushManager.getSubscription()) ?? undefined;
}

/** As the server names it: the beginning of the SHA-256 of the endpoint. */
async function idOf(endpoint: string): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(endpoint)));
  return Array.from(hash.subarray(0, 12), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Asks the person, where the browser has not yet, and subscribes. False if they did not allow it. */
export async function subscribeToPushes(publicKey: string): Promise<boolean> {
  if ((await Notification.requestPermission()) !== "granted") return false;
  await navigator.serviceWorker.register("/sw.js");
  const { pushManager } = await navigator.serviceWorker.ready;
  const key = bytesOf(publicKey);
  const before = await pushManager.getSubscription();
  if (before && !sameBytes(before.options.applicationServerKey, key)) await before.unsubscribe();
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  try {
    await tell(subscription);
  } catch (error) {
    await subscription.unsubscribe();
    throw error;
  }
  return true;
}

/** Says again what this browser has: it may have signed in anew since. */
export async function tellOwnPushes(): Promise<void> {
  const subscription = await ownSubscription();
  if (subscription) await tell(subscription);
}

async function tell(subscription: PushSubscription): Promise<PushSubscriptionOf> {
  const { endpoint, keys } = subscription.toJSON();
  return request<PushSubscriptionOf>("POST", "/api/push", { body: { endpoint, keys: { p256dh: keys?.p256dh, auth: keys?.auth } } });
}

export function endPushes(id: string): Promise<void> {
  return request("DELETE", `/api/push/${encodeURIComponent(id)}`);
}

/** This browser takes no more pushes, whether or not the server is told. */
export async function unsubscribeFromPushes(): Promise<void> {
  await (await ownSubscription())?.unsubscribe();
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64url.replace(/-/g, "+").replace(/_/g, "/"));
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

function sameBytes(one: ArrayBuffer | null, other: Uint8Array): boolean {
  const bytes = new Uint8Array(one ?? new ArrayBuffer(0));
  return bytes.length === other.length && bytes.every((byte, index) => byte === other[index]);
}
