import type { components } from "./schema";

type Schemas = components["schemas"];

export type Actor = Schemas["Actor"];
export type Answer = Schemas["AnswerView"];
export type Approval = Schemas["ApprovalView"];
export type Approver = Schemas["Approver"];
export type Approvers = Schemas["Approvers"];
export type Change = Schemas["Change"];
export type Channel = Schemas["Channel"];
export type Command = Schemas["Command"];
export type CommentKind = Schemas["CommentKind"];
export type Decision = Schemas["DecisionView"];
export type DiffLine = Schemas["DiffLine"];
export type Entry = Schemas["EntryView"];
export type Execution = Schemas["ExecutionView"];
export type FileDiff = Schemas["FileDiffView"];
export type Goal = Schemas["Goal"];
export type GoalStatus = Schemas["GoalStatus"];
export type Inbox = Schemas["Inbox"];
export type InboxItem = Schemas["WaitingView"];
export type JournalPage = Schemas["JournalPage"];
export type Memories = Schemas["Memories"];
export type Memory = Schemas["Memory"];
export type MemoryKind = Schemas["MemoryKind"];
export type Message = Schemas["MessageView"];
export type MessagePage = Schemas["MessagePage"];
export type NewPasskey = Schemas["NewPasskey"];
export type Passkey = Schemas["Passkey"];
export type PasskeyAnswer = Schemas["PasskeyAnswer"];
export type PasskeyChallenge = Schemas["PasskeyChallenge"];
export type Piece = Schemas["Piece"];
export type Plan = Schemas["PlanView"];
export type PlanChanges = Schemas["PlanChangesView"];
export type PlanDiff = Schemas["PlanDiff"];
export type PlanHistory = Schemas["PlanHistory"];
export type PlanList = Schemas["PlanList"];
export type PlanStatus = Schemas["PlanStatus"];
export type PlanStyle = Schemas["PlanStyle"];
export type PlanWork = Schemas["PlanWork"];
export type RecentPlans = Schemas["RecentPlans"];
export type RefusalCode = Schemas["RefusalCode"];
export type Review = Schemas["ReviewView"];
export type ReviewAnchor = Schemas["AnchorView"];
export type ReviewComment = Schemas["CommentView"];
export type ReviewRound = Schemas["ReviewRoundView"];
export type Run = Schemas["Run"];
export type Schedule = Schemas["Schedule"];
export type ServerInfo = Schemas["Server"];
export type Session = Schemas["StoredSessionView"];
export type SessionChanges = Schemas["ChatChangesView"];
export type SessionList = Schemas["SessionList"];
export type Step = Schemas["StepView"];
export type StepRun = Schemas["StepRunView"];
export type StepStatus = Schemas["StepStatus"];
export type StuckChoice = Schemas["StuckChoice"];
export type Task = Schemas["Task"];
export type TaskStatus = Schemas["TaskStatus"];
export type ToolStatus = Schemas["ToolStatus"];
export type Undo = Schemas["UndoView"];
export type Undone = Schemas["UndoneView"];
export type Workbook = Schemas["WorkbookView"];
export type WorkbookDocument = Schemas["DocumentView"];

/** The files of a session's folder. */
export interface SessionFiles {
  files: SessionFile[];
}
export interface SessionFile {
  path: string;
  bytes: number;
  directory: boolean;
}
export interface StoredFile {
  path: string;
  bytes: number;
}
export interface CallPreview {
  stepId: string;
  path: string;
  before: string | null;
  after: string | null;
  problem?: string | null;
}
export interface SessionState {
  seq: number;
  at: string;
  mode: string;
  style: string;
  plans: { planId: string; number: number; title: string; status: PlanStatus; version: number }[];
}
export interface ClientBrowser {
  id: string;
  kind: string;
  name: string;
  createdAt: string;
  lastSeenAt: string;
  current: boolean;
}
export interface UndeliveredMessage {
  id: string;
  channel: string;
  happening: string;
  text: string;
  sinceAt: string;
  attempts: number;
  lastError: string | null;
}
