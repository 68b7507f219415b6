import { keepPreviousData, useInfiniteQuery, useMutation, useQueryClient, type InfiniteData } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { useDeferredValue, useState, type ReactNode } from "react";

import { promoteAct } from "../api/acts";
import { forgetMemory, memoryQuery, promoteMemory, saveMemory, undoMemory } from "../api/memory";
import { newId } from "../api/newId";
import type { Memories, Memory, MemoryKind } from "../api/types";
import { useKey } from "../api/useKey";
import { useNeeds, useSigning, type Signable } from "../approval/useSigning";
import { useFollowSession } from "../live/useLive";
import { Confirm, Problem } from "../rooms/parts";
import type { SessionId } from "../session/id";
import { t } from "../texts/t";
import { Button, Empty, errorWords, Failure, IconButton, Loading, sentence, Time } from "../ui/basics";
import { Visible, visible } from "../ui/hidden";
import { Icon } from "../ui/Icon";
import { Menu } from "../ui/Menu";
import { say } from "../ui/toasts";

const KINDS: readonly MemoryKind[] = ["fact", "preference", "decision", "constraint", "result"];

/** What the session and every session remember: searched with scores, saved, forgotten and promoted by a person. */
export function MemoryRoom(): ReactNode {
  const { session } = useParams({ from: "/s/$session" });
  useFollowSession(session);
  const [search, setSearch] = useState("");
  const words = useDeferredValue(search.trim());
  const memories = useInfiniteQuery({ ...memoryQuery(session, words), placeholderData: keepPreviousData });
  const undo = useUndo(session);
  const signing = useSigning(useNeeds(session)?.promotes, "promote");
  const items = memories.data?.pages.flatMap((page) => page.items) ?? [];
  const damaged = memories.data?.pages.flatMap((page) => page.damaged ?? []) ?? [];
  const best = Math.max(0, ...items.map((item) => item.score));
  return (
    <div className="room">
      <div className="room-column">
        <div className="room-tools">
          <label className="session-search">
            <Icon name="search" size={14} />
            <span className="visually-hidden">{t("memory.search")}</span>
            <input type="search" value={search} placeholder={t("memory.search")} onChange={(event) => setSearch(event.target.value)} />
          </label>
          {memories.data?.pages[0]?.canUndo === true && (
            <Button icon="back" busy={undo.isPending} onClick={() => undo.mutate()}>
              {t("memory.undo")}
            </Button>
          )}
        </div>
        <SaveMemory session={session} />
        {memories.isError && <Failure error={memories.error} retry={() => void memories.refetch()} />}
        {memories.isPending && <Loading />}
        {memories.isSuccess && items.length === 0 && (
          <Empty title={words === "" ? t("memory.none") : t("memory.noneFound")}>
            <p>{words === "" ? t("memory.noneWords") : t("memory.noneFoundWords")}</p>
          </Empty>
        )}
        {damaged.length > 0 && <p className="problem">{t("memory.damaged", { count: damaged.length })}</p>}
        {items.some((item) => item.scope !== "global") && signing.note}
        <ul className="rows" aria-label={t("rooms.memory")}>
          {items.map((item) => (
            <MemoryRow key={item.id} session={session} item={item} best={best} onUndo={() => undo.mutate()} />
          ))}
        </ul>
        {memories.hasNextPage && (
          <Button busy={memories.isFetchingNextPage} onClick={() => void memories.fetchNextPage()}>
            {t("memory.older")}
          </Button>
        )}
      </div>
    </div>
  );
}

function useUndo(session: SessionId) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => undoMemory(session),
    onSuccess: (answer) => say(sentence(answer.reply), { tone: "done" }),
    onError: (error) => say(errorWords(error), { tone: "failed" }),
    // A promotion that is taken back concerns every session.
    onSettled: () => client.invalidateQueries({ queryKey: ["memory"] }),
  });
}

function SaveMemory({ session }: { session: SessionId }): ReactNode {
  const [text, setText] = useState("");
  const [kind, setKind] = useState<MemoryKind>("fact");
  const client = useQueryClient();
  const key = useKey();
  const save = useMutation({
    mutationFn: () => saveMemory(session, text.trim(), kind, key.of([text, kind])),
    onSuccess: () => {
      key.renew();
      setText("");
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["memory", session] }),
  });
  return (
    <form
      className="line-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== "") save.mutate();
      }}
    >
      <label className="line-grow">
        <span className="visually-hidden">{t("memory.new")}</span>
        <input value={text} placeholder={t("memory.new")} autoComplete="off" maxLength={8_000} onChange={(event) => setText(event.target.value)} />
      </label>
      <label>
        <span className="visually-hidden">{t("memory.kind")}</span>
        <select value={kind} onChange={(event) => setKind(KINDS.find((one) => one === event.target.value) ?? "fact")}>
          {KINDS.map((one) => (
            <option key={one} value={one}>
              {t(`memory.kind.${one}`)}
            </option>
          ))}
        </select>
      </label>
      <Button type="submit" busy={save.isPending} off={text.trim() === "" ? t("form.empty") : undefined}>
        {t("memory.save")}
      </Button>
      <Problem error={save.error} />
    </form>
  );
}

function scopeWords(scope: string): string {
  return t(scope === "global" ? "memory.scope.global" : scope.startsWith("goal:") ? "memory.scope.goal" : scope.startsWith("task:") ? "memory.scope.task" : "memory.scope.session");
}

/** What every session will read: the text with its kind and its tags. */
function Promoted({ item }: { item: Memory }): ReactNode {
  return (
    <>
      <p>{t("memory.promoteWords")}</p>
      <blockquote className="quoted" dir="auto">
        <Visible text={item.content} />
      </blockquote>
      <p className="facts">
        <span>{t(`memory.kind.${item.kind}`)}</span>
        {item.tags.map((tag) => (
          <span key={tag}>
            #<Visible text={tag} />
          </span>
        ))}
      </p>
    </>
  );
}

function MemoryRow({ session, item, best, onUndo }: { session: SessionId; item: Memory; best: number; onUndo: () => void }): ReactNode {
  const [promoting, setPromoting] = useState(false);
  const [open, setOpen] = useState(false);
  const [key] = useState(newId);
  const client = useQueryClient();
  const forget = useMutation({
    mutationFn: () => forgetMemory(session, item.id),
    onSuccess: () => say(t("memory.forgotten"), { for: 10_000, action: { label: t("undo"), act: onUndo } }),
    onError: (error) => say(errorWords(error), { tone: "failed" }),
    onSettled: () => client.invalidateQueries({ queryKey: ["memory"] }),
  });
  const signing = useSigning(useNeeds(session)?.promotes, "promote");
  const signable = (now: Memory): Signable => ({
    title: t("memory.askPromote"),
    send: t("memory.promote"),
    shown: <Promoted item={now} />,
    act: promoteAct(session, now),
    perform: async (proof) => {
      await promoteMemory(session, now, key, proof);
      await client.invalidateQueries({ queryKey: ["memory"] });
      say(t("memory.promoted"), { tone: "done", for: 10_000, action: { label: t("undo"), act: onUndo } });
    },
    reload: async () => {
      await client.refetchQueries({ queryKey: ["memory", session], type: "active" });
      const lists = client.getQueriesData<InfiniteData<Memories>>({ queryKey: ["memory", session], type: "active" });
      const found = lists.flatMap(([, list]) => list?.pages ?? []).flatMap((page) => page.items).find((one) => one.id === now.id);
      return found && signable(found);
    },
  });
  const promote = async () => {
    const problem = await signing.begin(signable(item));
    if (problem !== undefined) throw problem;
  };
  const isGlobal = item.scope === "global";
  const shares = item.shares ?? [];
  return (
    <li className="row memory-row">
      {item.score > 0 && (
        <span className="score" title={t("memory.score", { score: item.score.toFixed(2) })}>
          <meter min={0} max={best} value={item.score} aria-label={t("memory.score", { score: item.score.toFixed(2) })} />
          <span className="secondary">{item.score.toFixed(2)}</span>
        </span>
      )}
      <div className="row-main">
        <span className="memory-text">
          <Visible text={item.content} />
        </span>
        <span className="facts">
          <span className="tag" data-global={isGlobal || undefined}>
            {scopeWords(item.scope)}
          </span>
          <span>{t(`memory.kind.${item.kind}`)}</span>
          <span>{item.trust === "person" && item.author.name === "person" ? t("memory.trust.unnamed") : t(`memory.trust.${item.trust}`, { name: item.author.name })}</span>
          {item.source.session !== undefined && <span>{t("memory.promotedFrom", { session: item.source.session, name: visible(item.source.promotedBy ?? "") })}</span>}
          {item.tags.map((tag) => (
            <span key={tag}>
              #<Visible text={tag} />
            </span>
          ))}
          <Time at={item.at} />
          {shares.length > 0 && (
            <button type="button" className="link" aria-expanded={open} onClick={() => setOpen(!open)}>
              {t("memory.why")}
            </button>
          )}
        </span>
        {open && (
          <dl className="shares">
            {shares.map(({ factor, share }) => (
              <div key={factor}>
                <dt>{t(`memory.factor.${factor}` as "memory.factor.text")}</dt>
                <dd>{share.toFixed(2)}</dd>
              </div>
            ))}
          </dl>
        )}
      </div>
      <Menu
        trigger={<IconButton icon="more" label={t("memory.change")} />}
        items={[
          ...(isGlobal ? [] : [{ label: t("memory.promote"), icon: "outside" as const, act: () => (signing.asks ? void promote() : setPromoting(true)) }]),
          { label: t("memory.forget"), icon: "trash" as const, danger: true, act: () => forget.mutate() },
        ]}
      />
      {promoting && (
        <Confirm
          title={t("memory.askPromote")}
          button={t("memory.promote")}
          onClose={() => setPromoting(false)}
          act={promote}
        >
          <Promoted item={item} />
        </Confirm>
      )}
      {signing.dialog}
    </li>
  );
}
