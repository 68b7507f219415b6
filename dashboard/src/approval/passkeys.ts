import type { ActChallenge, NewPasskey, PasskeyAnswer, PasskeyChallenge, SignedAct } from "../api/types";

/** Browsers make passkeys for names, and not for addresses of numbers. */
export function canUsePasskeys(host: string = location.hostname): boolean {
  return typeof PublicKeyCredential !== "undefined" && !/^[\d.]+$|:/.test(host);
}

export function toBase64Url(bytes: ArrayBuffer): string {
  const text = String.fromCharCode(...new Uint8Array(bytes));
  return btoa(text).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

export function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const plain = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
}

/** Whether the passkey works on this page. Those of earlier versions do not say on which port they were made. */
export function worksHere(passkey: { origin?: string; relyingParty: string }, here: { origin: string; hostname: string } = location): boolean {
  return passkey.origin === undefined ? passkey.relyingParty === here.hostname : passkey.origin === here.origin;
}

/** Has the browser make a passkey. `undefined` if the person does not want to. */
export async function createPasskey(approver: string): Promise<Omit<NewPasskey, "label" | "passphrase"> | undefined> {
  const made = await asked(() =>
    navigator.credentials.create({
      publicKey: {
        rp: { name: "Planwright", id: location.hostname },
        user: { id: new TextEncoder().encode(approver), name: approver, displayName: approver },
        challenge: crypto.getRandomValues(new Uint8Array(32)),
        // Ed25519, and ECDSA on P-256.
        pubKeyCredParams: [
          { type: "public-key", alg: -8 },
          { type: "public-key", alg: -7 },
        ],
        attestation: "none",
        // A device that knows a finger, a face or a code asks for it.
        authenticatorSelection: { userVerification: "preferred" },
      },
    }),
  );
  if (!(made instanceof PublicKeyCredential) || !(made.response instanceof AuthenticatorAttestationResponse)) return undefined;
  const publicKey = made.response.getPublicKey();
  if (publicKey === null) return undefined;
  return {
    credential: toBase64Url(made.rawId),
    clientData: new TextDecoder().decode(made.response.clientDataJSON),
    authenticatorData: toBase64Url(made.response.getAuthenticatorData()),
    publicKey: toBase64Url(publicKey),
  };
}

/** Has a passkey sign. `undefined` if the person does not want to. */
export async function signWithPasskey(challenge: PasskeyChallenge): Promise<PasskeyAnswer | undefined> {
  const { approver, seq, validUntil, nonce } = challenge;
  const signed = await sign(challenge);
  return signed && { approver, seq, validUntil, nonce, ...signed };
}

/** Has a passkey sign that something is done which is no approval. `undefined` if the person does not want to. */
export async function signActWithPasskey(challenge: ActChallenge): Promise<SignedAct | undefined> {
  const { approver, act, at, nonce } = challenge;
  const signed = await sign(challenge);
  return signed && { approver, act, at, nonce, ...signed };
}

type Signed = Pick<PasskeyAnswer, "credential" | "clientData" | "authenticatorData" | "signature">;

async function sign(challenge: Pick<PasskeyChallenge, "challenge" | "passkeys">): Promise<Signed | undefined> {
  const usable = challenge.passkeys.filter((passkey) => worksHere(passkey));
  const signed = await asked(() =>
    navigator.credentials.get({
      publicKey: {
        challenge: fromBase64Url(challenge.challenge),
        rpId: location.hostname,
        allowCredentials: usable.map((passkey) => ({ type: "public-key", id: fromBase64Url(passkey.id) })),
        userVerification: "preferred",
      },
    }),
  );
  if (!(signed instanceof PublicKeyCredential) || !(signed.response instanceof AuthenticatorAssertionResponse)) return undefined;
  return {
    credential: toBase64Url(signed.rawId),
    clientData: new TextDecoder().decode(signed.response.clientDataJSON),
    authenticatorData: toBase64Url(signed.response.authenticatorData),
    signature: toBase64Url(signed.response.signature),
  };
}

/** A person who closes the browser's own question has not decided anything. */
async function asked<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof DOMException && (error.name === "NotAllowedError" || error.name === "AbortError")) return undefined;
    throw error;
  }
}
