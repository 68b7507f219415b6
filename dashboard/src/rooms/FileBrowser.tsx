import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import { attachFile, fileAddress, filesQuery, fileTextQuery, isPicture } from "../api/files";
import type { SessionFile } from "../api/types";
import { CodeBlock } from "../markdown/CodeBlock";
import { languageOf } from "../markdown/language";
import type { SessionId } from "../session/id";
import { bytes, t } from "../texts/t";
import { errorWords, Failure, Loading } from "../ui/basics";
import { Visible, visible } from "../ui/hidden";
import { Icon } from "../ui/Icon";
import { say } from "../ui/toasts";
import { RoomSection } from "./parts";

/** How many entries are shown. */
const MAX_FILES = 500;
/** Larger files are offered for download and not shown. */
const MOST_SHOWN = 256 * 1024;

/** The files of the session's folder: look into them, take them along, add one. */
export function FileBrowser({ session }: { session: SessionId }): ReactNode {
  const [folder, setFolder] = useState("");
  const [open, setOpen] = useState<string>();
  const files = useQuery(filesQuery(session, folder, MAX_FILES));
  const entries = inFolder(files.data?.files ?? [], folder);
  const parts = folder.split("/").filter((part) => part !== "");
  return (
    <RoomSection title={t("files.title")} action={<Upload session={session} onDone={() => void files.refetch()} />}>
      <nav className="crumbs" aria-label={t("files.folder")}>
        <button type="button" className="link" onClick={() => setFolder("")}>
          {t("files.root")}
        </button>
        {parts.map((part, index) => (
          <span key={index}>
            /{" "}
            <button type="button" className="link" onClick={() => setFolder(`${parts.slice(0, index + 1).join("/")}/`)}>
              <Visible text={part} />
            </button>
          </span>
        ))}
      </nav>
      {files.isError && <Failure error={files.error} retry={() => void files.refetch()} />}
      {files.isPending && <Loading />}
      {files.isSuccess && entries.length === 0 && <p className="secondary">{t("files.empty")}</p>}
      <ul className="rows" aria-label={t("files.title")}>
        {entries.map((entry) => (
          <li key={entry.path} className="row file-row">
            <Icon name={entry.directory ? "book" : "file"} size={14} />
            <div className="row-main">
              <button
                type="button"
                className="link"
                aria-expanded={entry.directory ? undefined : open === entry.path}
                onClick={() => (entry.directory ? setFolder(`${entry.path.replace(/\/$/, "")}/`) : setOpen(open === entry.path ? undefined : entry.path))}
              >
                <Visible text={nameIn(entry.path, folder)} />
              </button>
              {open === entry.path && <FileView session={session} file={entry} />}
            </div>
            {entry.bytes !== null && <span className="secondary">{bytes(entry.bytes)}</span>}
          </li>
        ))}
      </ul>
      {files.data?.truncated === true && <p className="secondary">{t("files.more", { count: MAX_FILES })}</p>}
    </RoomSection>
  );
}

function nameIn(path: string, folder: string): string {
  return path.startsWith(folder) ? path.slice(folder.length).replace(/\/$/, "") : path;
}

/** The entries directly in the folder, folders first. */
export function inFolder(files: readonly SessionFile[], folder: string): SessionFile[] {
  const found = new Map<string, SessionFile>();
  for (const file of files) {
    const rest = nameIn(file.path, folder);
    if (rest === "" || !file.path.startsWith(folder)) continue;
    const slash = rest.indexOf("/");
    if (slash < 0) found.set(rest, file);
    else found.set(rest.slice(0, slash), { path: folder + rest.slice(0, slash), bytes: null, directory: true });
  }
  return [...found.values()].sort((a, b) => Number(b.directory) - Number(a.directory) || a.path.localeCompare(b.path));
}

function FileView({ session, file }: { session: SessionId; file: SessionFile }): ReactNode {
  const address = fileAddress(session, file.path);
  const isSmall = (file.bytes ?? 0) <= MOST_SHOWN;
  const text = useQuery({ ...fileTextQuery(session, file.path), enabled: isSmall && !isPicture(file.path) });
  const isText = text.data !== undefined && !text.data.includes("\u0000");
  return (
    <div className="file-view">
      {isPicture(file.path) ? (
        <img className="file-picture" src={address} alt={visible(file.path)} />
      ) : text.isError ? (
        <Failure error={text.error} retry={() => void text.refetch()} />
      ) : isText ? (
        <CodeBlock code={text.data} language={languageOf(file.path)} numbered label={<Visible text={file.path} />} />
      ) : (
        (!isSmall || text.isSuccess) && <p className="secondary">{t("files.notShown")}</p>
      )}
      <a className="button" data-look="plain" href={address} download={file.path.split("/").at(-1)}>
        {t("files.download")}
      </a>
    </div>
  );
}

function Upload({ session, onDone }: { session: SessionId; onDone: () => void }): ReactNode {
  const [isBusy, setBusy] = useState(false);
  return (
    <label className="button upload" data-look="plain" aria-busy={isBusy || undefined}>
      <Icon name="plus" /> {t("files.add")}
      <input
        type="file"
        multiple
        className="visually-hidden"
        onChange={(event) => {
          const chosen = [...(event.target.files ?? [])];
          event.target.value = "";
          setBusy(true);
          Promise.all(chosen.map((file) => attachFile(session, file)))
            .then((stored) => say(t("files.added", { count: stored.length }), { tone: "done" }))
            .catch((error: unknown) => say(errorWords(error), { tone: "failed" }))
            .finally(() => {
              setBusy(false);
              onDone();
            });
        }}
      />
    </label>
  );
}
