import { useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent, type ReactNode } from "react";

import { request } from "../api/client";
import { signedIn } from "../api/signIn";
import { t } from "../texts/t";
import { Button, errorWords } from "../ui/basics";

/** The page is the same for every address: after signing in, the person is where they wanted to go. */
export function SignIn(): ReactNode {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<string>();
  const [busy, setBusy] = useState(false);
  const client = useQueryClient();

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      await request("POST", "/api/login", { body: { token: token.trim() } });
      client.clear();
      signedIn();
    } catch (error) {
      setProblem(errorWords(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <main className="sign-in" id="main">
      <img src="/icon.svg" alt="" width="44" height="44" />
      <h1>{t("signIn.title")}</h1>
      <p>{t("signIn.how")}</p>
      <p>
        <code>planwright token</code>
      </p>
      <form onSubmit={(event) => void submit(event)}>
        <label htmlFor="token">{t("signIn.token")}</label>
        <input
          id="token"
          type="password"
          autoComplete="current-password"
          spellCheck={false}
          required
          autoFocus
          value={token}
          onChange={(event) => setToken(event.target.value)}
          aria-describedby={problem ? "token-problem" : undefined}
          aria-invalid={problem !== undefined || undefined}
        />
        {problem && (
          <p id="token-problem" className="problem" role="alert">
            {problem}
          </p>
        )}
        <Button type="submit" look="primary" busy={busy}>
          {t("signIn.submit")}
        </Button>
      </form>
    </main>
  );
}
