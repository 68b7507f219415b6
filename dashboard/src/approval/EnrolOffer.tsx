import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { addPasskey, enrolFirst } from "../api/decisions";
import { approversQuery } from "../api/queries";
import { t } from "../texts/t";
import { Banner, Button, errorWords } from "../ui/basics";
import { Dialog } from "../ui/Dialog";
import { canUsePasskeys, createPasskey } from "./passkeys";

/** Where this browser keeps that the person does not want to be asked. */
const DECLINED = "planwright.enrol.declined";
const MIN_PASSPHRASE = 8;

/** On the first visit: a passphrase is what an agent with a shell does not have. It can be declined. */
export function EnrolOffer(): ReactNode {
  const found = useQuery(approversQuery).data;
  const [isDeclined, setDeclined] = useState(() => localStorage.getItem(DECLINED) !== null);
  const [isOpen, setOpen] = useState(false);
  const isAsked = found?.approvers.length === 0 && !isDeclined;
  if (!isAsked && !isOpen) return null;
  return (
    <>
      {isAsked && (
        <Banner
          tone="waiting"
          icon="person"
          actions={
            <>
              <Button look="plain" onClick={() => setOpen(true)}>
                {t("enrol.start")}
              </Button>
              <Button
                look="quiet"
                onClick={() => {
                  localStorage.setItem(DECLINED, "1");
                  setDeclined(true);
                }}
              >
                {t("enrol.later")}
              </Button>
            </>
          }
        >
          {t("enrol.words")}
        </Banner>
      )}
      {isOpen && <EnrolDialog onClose={() => setOpen(false)} />}
    </>
  );
}

/** A name and a passphrase, and then the recovery code, once. */
export function EnrolDialog({ onClose }: { onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [passphrase, setPassphrase] = useState("");
  const [again, setAgain] = useState("");
  const enrol = useMutation({ mutationFn: () => enrolFirst(name.trim(), passphrase) });
  const passkey = useMutation({
    mutationFn: async () => {
      const made = await createPasskey(name.trim());
      return made === undefined ? undefined : addPasskey(name.trim(), { ...made, label: t("enrol.passkeyLabel"), passphrase });
    },
  });
  const close = () => {
    void client.invalidateQueries({ queryKey: approversQuery.queryKey });
    onClose();
  };
  const code = enrol.data?.recoveryCode;
  const off =
    name.trim() === "" ? t("enrol.offName") : [...passphrase].length < MIN_PASSPHRASE ? t("enrol.offShort") : passphrase !== again ? t("enrol.offDifferent") : undefined;
  if (code !== undefined) {
    return (
      <Dialog open onClose={close} title={t("enrol.title")} look="sheet">
        <div className="ask">
          <p>{t("enrol.code")}</p>
          <p>
            <code>{code}</code>
          </p>
          <p>{t("enrol.codeWords")}</p>
          {passkey.isError && (
            <p className="problem" role="alert">
              {errorWords(passkey.error)}
            </p>
          )}
          {passkey.data !== undefined && <p role="status">{t("settings.passkeyAdded")}</p>}
          <div className="ask-buttons">
            {canUsePasskeys() && passkey.data === undefined && (
              <Button busy={passkey.isPending} onClick={() => passkey.mutate()}>
                {t("settings.addPasskey")}
              </Button>
            )}
            <Button look="primary" autoFocus onClick={close}>
              {t("enrol.done")}
            </Button>
          </div>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog open onClose={onClose} title={t("enrol.title")} look="sheet">
      <form
        className="ask"
        onSubmit={(event) => {
          event.preventDefault();
          if (off === undefined && !enrol.isPending) enrol.mutate();
        }}
      >
        <p>{t("enrol.words")}</p>
        <label className="approver-field">
          <span>{t("enrol.name")}</span>
          <input autoFocus maxLength={64} value={name} onChange={(event) => setName(event.target.value)} />
        </label>
        <Secret label={t("verify.passphrase")} value={passphrase} onChange={setPassphrase} />
        <Secret label={t("enrol.again")} value={again} onChange={setAgain} />
        {enrol.isError && (
          <p className="problem" role="alert">
            {errorWords(enrol.error)}
          </p>
        )}
        <div className="ask-buttons">
          <Button onClick={onClose}>{t("ask.back")}</Button>
          <Button type="submit" look="primary" off={off} busy={enrol.isPending}>
            {t("enrol.send")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Secret({ label, value, onChange }: { label: string; value: string; onChange: (text: string) => void }): ReactNode {
  return (
    <label className="approver-field">
      <span>{label}</span>
      <input type="password" autoComplete="new-password" spellCheck={false} maxLength={4096} value={value} onChange={(event) => onChange(event.target.value)} />
    </label>
  );
}
