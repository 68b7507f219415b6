//! The domain of Planwright, pure and synchronous: time and ids come in as arguments, decisions go out as events.
//!
//! - [`session`], [`mode`], [`actor`]: who talks, and whether plan work is on
//! - [`plan`]: the plan, its life cycle, content, approval and execution
//! - [`choices`]: what a plan, an ask or a run waits for, and what a person can do about it now
//! - [`command`] → [`decide()`] → [`event`] → [`snapshot::Snapshot::apply`]: the way every change goes
//! - [`auto`]: the context of a run
//! - [`memory`]: what a session remembers, in which scope, and how it is found again
//! - [`presence`], [`approval`], [`door`]: how a person was recognised, what an approval needs, and what every command asks for
//! - [`call_text`]: a call as a person reads it before it runs
//! - [`ask`]: what a turn asks a person before it continues
//! - [`client_ask`]: calls of a client's own tools that a person is asked about here
//! - [`gate`]: which tools are advertised and may run
//! - [`gateway`]: what becomes of calls of external agents to upstream tools
//! - [`permission`]: whether a call that passed the gate runs, is asked about, or is denied
//! - [`standing_rule`]: what a person permitted from now on
//! - [`journal`]: the hash chain that keeps every event
//! - [`slash`]: what a person types: a message, a command, or a mistake
//! - [`upstream`]: tools of MCP servers, their names here, and how a list of them differs from the accepted one
//! - [`workspace`]: the folder of the file tools, and what they change in it
//! - [`workbook`]: task plan, findings and progress beside the conversation
//! - [`front_matter`]: the keys at the beginning of a Markdown file
//! - [`legacy`]: what the older `plans.json` says
//! - [`visible`]: text without hidden characters
//! - [`copy_on_write`]: what copies of a session or a plan have in common
//! - `agents`: the specialists that steps can be given to and that the planner can ask
//! - `apply`: what each event does to the state
//! - `conversation`: the conversation as a model reads it: what was said and done, put together from the journal
//! - `decide`: decides what a command leads to: events, or a refusal that changes nothing
//! - `guarded_files`: files that later run or instruct, which a plan covers only if it names them
//! - `identity`: the names of a session
//! - `ids`: every id has its own type, so that one cannot be passed where another is meant
//! - [`located_program`]: a program where it was found
//! - `model`: what a model is asked and what it answers, in our own words
//! - `planner`: the planner's answer at the end of a turn, as data for programs
//! - `policy`: what the configuration decides: limits, the agents there are, and which tools may run while a document
//!   is drafted
//! - `prompt`: what every request begins with: who the agent is, and where the plan stands
//! - `refusal`: a refusal is a typed "no": it says why in words and in a code, and nothing has changed
//! - `replay`: a turn or a whole session, put together from the journal
//! - `turn`: the turn as a state machine: what was said and done goes in, what is to be done next comes out
//! - `wire`: how events are written in the journal: `{"type":"step_begun","plan":"…","execution":"…","step":"s1"}`
//!
//! Never in it: a clock, a random id, I/O, async, an environment variable.

pub mod actor;
pub mod agents;
mod apply;
pub mod approval;
pub mod ask;
pub mod auto;
pub mod call_text;
pub mod choices;
pub mod client_ask;
pub mod command;
pub mod conversation;
pub mod copy_on_write;
mod decide;
pub mod door;
pub mod event;
pub mod front_matter;
pub mod gate;
pub mod gateway;
pub mod guarded_files;
pub mod identity;
pub mod ids;
pub mod journal;
pub mod legacy;
pub mod located_program;
pub mod memory;
pub mod mode;
pub mod model;
pub mod permission;
pub mod plan;
pub mod planner;
pub mod policy;
pub mod presence;
pub mod prompt;
pub mod refusal;
pub mod replay;
pub mod session;
pub mod slash;
pub mod snapshot;
pub mod standing_rule;
pub mod turn;
pub mod upstream;
pub mod visible;
mod wire;
pub mod workbook;
pub mod workspace;

pub use decide::decide;
