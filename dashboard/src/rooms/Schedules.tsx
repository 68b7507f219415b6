import { useQueryClient } from "@tanstack/react-query";
import { useId, useMemo, useState, type ReactNode } from "react";

import { addScheduleAct, resumeScheduleAct } from "../api/acts";
import { addSchedule, deleteSchedule, loadWork, switchSchedule, type NewSchedule } from "../api/auto";
import { newId } from "../api/newId";
import type { Goal, Schedule } from "../api/types";
import { useKey } from "../api/useKey";
import { useNeeds, useSigning, type Signable } from "../approval/useSigning";
import type { SessionId } from "../session/id";
import { exactTimeIn, t } from "../texts/t";
import { Button, Empty, errorWords, IconButton } from "../ui/basics";
import { Visible, visible } from "../ui/hidden";
import { Menu } from "../ui/Menu";
import { StateMark, type Shape, type Tone } from "../ui/status";
import { say } from "../ui/toasts";
import { Confirm, Problem, RoomSection } from "./parts";
import type { AutoWork } from "./runTarget";
import { WorkShown } from "./WorkShown";

export function Schedules({ session, work }: { session: SessionId; work: AutoWork }): ReactNode {
  const { schedules, goals } = work;
  const [adding, setAdding] = useState(false);
  const signing = useSigning(useNeeds(session)?.starts, "schedule");
  return (
    <RoomSection
      title={t("schedules.title")}
      action={
        !adding && (
          <Button icon="plus" onClick={() => setAdding(true)}>
            {t("schedules.new")}
          </Button>
        )
      }
    >
      {!adding && schedules.some(({ status }) => status === "paused") && signing.note}
      {adding && <NewScheduleForm session={session} goals={goals} onDone={() => setAdding(false)} />}
      {schedules.length === 0 && !adding && (
        <Empty title={t("schedules.none")}>
          <p>{t("schedules.noneWords")}</p>
        </Empty>
      )}
      <ul className="rows">
        {schedules.map((schedule) => (
          <ScheduleRow key={schedule.id} session={session} schedule={schedule} work={work} />
        ))}
      </ul>
    </RoomSection>
  );
}

type ScheduleState = "active" | "paused" | "ended";
const LOOKS: Record<ScheduleState, [Tone, Shape]> = { active: ["running", "half"], paused: ["waiting", "pause"], ended: ["quiet", "minus"] };

function ScheduleRow({ session, schedule, work }: { session: SessionId; schedule: Schedule; work: AutoWork }): ReactNode {
  const client = useQueryClient();
  const [asking, setAsking] = useState(false);
  const reload = () => client.invalidateQueries({ queryKey: ["auto", session] });
  const signing = useSigning(useNeeds(session)?.starts, "schedule");
  const signable = (to: "pause" | "resume", now: Schedule, from: AutoWork): Signable => ({
    title: t("sign.resumeSchedule", { n: now.number }),
    send: t("schedules.resume"),
    shown: (
      <>
        <ScheduleTerms {...now} />
        <WorkShown goal={from.goals.find((one) => one.id === now.goalId)} task={from.tasks.find((one) => one.id === now.taskId)} />
      </>
    ),
    act: to === "resume" ? resumeScheduleAct(session, now) : undefined,
    perform: (proof) => switchSchedule(session, now, to, newId(), proof).finally(reload),
    reload: async () => {
      const loaded = await loadWork(client, session);
      const found = loaded.schedules.find((one) => one.id === now.id);
      return found && signable(to, found, loaded);
    },
  });
  const change = async (to: "pause" | "resume") => {
    const problem = await signing.begin(signable(to, schedule, work));
    if (problem !== undefined) say(errorWords(problem), { tone: "failed" });
  };
  const state = schedule.status as ScheduleState;
  const [tone, shape] = LOOKS[state] ?? ["quiet", "circle"];
  const remove = { label: t("schedules.delete"), icon: "trash" as const, danger: true, act: () => setAsking(true) };
  const items =
    state === "active"
      ? [{ label: t("schedules.pause"), icon: "pause" as const, act: () => void change("pause") }, remove]
      : state === "paused"
        ? [{ label: t("schedules.resume"), icon: "run" as const, act: () => void change("resume") }, remove]
        : [remove];
  return (
    <li className="row">
      <StateMark tone={tone} shape={shape} label={t(`schedules.state.${state}`)} />
      <div className="row-main">
        <span>
          <span className="secondary">{schedule.number}</span> <Visible text={schedule.title} />
        </span>
        <span className="facts">
          <code>{schedule.cron}</code>
          <span>{schedule.timeZone}</span>
          <span>{t(`schedules.state.${state}`)}</span>
          {schedule.nextAt !== null && state === "active" && <time dateTime={schedule.nextAt}>{t("schedules.next", { time: exactTimeIn(schedule.nextAt, schedule.timeZone) })}</time>}
          <span>{schedule.maxExecutions === null ? t("schedules.times", { count: schedule.executions }) : t("schedules.timesOf", { count: schedule.executions, most: schedule.maxExecutions })}</span>
        </span>
      </div>
      <Menu trigger={<IconButton icon="more" label={t("schedules.change", { n: schedule.number })} />} items={items} />
      {signing.dialog}
      {asking && (
        <Confirm title={t("schedules.askDelete", { n: schedule.number })} button={t("schedules.delete")} danger onClose={() => setAsking(false)} act={() => deleteSchedule(session, schedule.id).then(reload)}>
          <p>{t("schedules.deleteWords")}</p>
        </Confirm>
      )}
    </li>
  );
}

/** What is done, when, and how often at most. */
function ScheduleTerms({ title, cron, timeZone, maxExecutions }: { title: string; cron: string; timeZone: string; maxExecutions?: number | null }): ReactNode {
  return (
    <p>
      <Visible text={title} /> <code>{cron}</code> <span className="secondary">{timeZone}</span>
      {typeof maxExecutions === "number" && <span className="secondary"> {t("schedules.atMost", { count: maxExecutions })}</span>}
    </p>
  );
}

/** Common times, to begin from. */
const PRESETS = [
  ["hourly", "0 * * * *"],
  ["daily", "0 9 * * *"],
  ["weekdays", "0 9 * * 1-5"],
  ["weekly", "0 9 * * 1"],
  ["monthly", "0 9 1 * *"],
] as const;

function NewScheduleForm({ session, goals, onDone }: { session: SessionId; goals: readonly Goal[]; onDone: () => void }): ReactNode {
  const client = useQueryClient();
  const key = useKey();
  const [title, setTitle] = useState("");
  const [cron, setCron] = useState("0 9 * * *");
  const [timeZone, setTimeZone] = useState(() => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC");
  const [most, setMost] = useState("");
  const [goal, setGoal] = useState("");
  const zones = useMemo(() => [...new Set(["UTC", timeZone, ...Intl.supportedValuesOf("timeZone")])], [timeZone]);
  const id = useId();
  const signing = useSigning(useNeeds(session)?.starts, "schedule");
  const add = () => {
    const schedule: NewSchedule = { title: title.trim(), cron: cron.trim(), timeZone, ...(goal === "" ? {} : { goalId: goal }), ...(most === "" ? {} : { maxExecutions: Number(most) }) };
    void signing.begin({
      title: t("schedules.new"),
      send: t("schedules.add"),
      shown: (
        <>
          <ScheduleTerms {...schedule} />
          <WorkShown goal={goals.find((one) => one.id === goal)} />
        </>
      ),
      act: addScheduleAct(session, schedule),
      perform: async (proof) => {
        await addSchedule(session, schedule, key.of(schedule), proof);
        key.renew();
        await client.invalidateQueries({ queryKey: ["auto", session] });
        onDone();
      },
    });
  };
  const preset = PRESETS.find(([, line]) => line === cron.trim())?.[0] ?? "own";
  const off = title.trim() === "" ? t("schedules.offTitle") : cron.trim().split(/\s+/).length === 5 ? undefined : t("schedules.offCron");
  return (
    <>
      <form
        className="card form-grid"
        aria-label={t("schedules.new")}
        onSubmit={(event) => {
          event.preventDefault();
          if (off === undefined && !signing.busy) add();
        }}
      >
        <label className="form-wide">
          <span>{t("schedules.what")}</span>
          <input autoFocus value={title} maxLength={2_000} onChange={(event) => setTitle(event.target.value)} />
        </label>
        <label>
          <span>{t("schedules.when")}</span>
          <select value={preset} onChange={(event) => setCron(PRESETS.find(([name]) => name === event.target.value)?.[1] ?? cron)}>
            {PRESETS.map(([name]) => (
              <option key={name} value={name}>
                {t(`schedules.preset.${name}`)}
              </option>
            ))}
            <option value="own">{t("schedules.preset.own")}</option>
          </select>
        </label>
        <label>
          <span>{t("schedules.cron")}</span>
          <input className="mono" value={cron} aria-describedby={`${id}-cron`} onChange={(event) => setCron(event.target.value)} />
          <small id={`${id}-cron`} className="secondary">
            {t("schedules.cronWords")}
          </small>
        </label>
        <label>
          <span>{t("schedules.zone")}</span>
          <select value={timeZone} onChange={(event) => setTimeZone(event.target.value)}>
            {zones.map((zone) => (
              <option key={zone} value={zone}>
                {zone}
              </option>
            ))}
          </select>
        </label>
        <label>
          <span>{t("schedules.most")}</span>
          <input type="number" min={1} value={most} onChange={(event) => setMost(event.target.value)} />
        </label>
        {goals.length > 0 && (
          <label>
            <span>{t("schedules.goal")}</span>
            <select value={goal} onChange={(event) => setGoal(event.target.value)}>
              <option value="">{t("schedules.noGoal")}</option>
              {goals.map((one) => (
                <option key={one.id} value={one.id}>
                  {visible(one.title)}
                </option>
              ))}
            </select>
          </label>
        )}
        {signing.note && <div className="form-wide">{signing.note}</div>}
        <div className="form-wide ask-buttons">
          <Problem error={signing.problem} />
          <Button onClick={onDone}>{t("ask.back")}</Button>
          <Button type="submit" look="primary" busy={signing.busy} off={off}>
            {t("schedules.add")}
          </Button>
        </div>
      </form>
      {signing.dialog}
    </>
  );
}
