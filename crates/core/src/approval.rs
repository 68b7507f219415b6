//! Which recognition of a person an approval needs.
//!
//! - [`ApprovalPolicy`]: what the settings ask for, by channel and by risk
//! - [`Risk`]: what a plan may do
//! - [`ApprovalCheck`]: compares the policy with how a person was recognised
//! - [`ApproverKey`], [`Approvers`]: the keys of enrolled approvers
//! - [`Passkey`]: a key of a browser, a phone or a security key, and the check of what it signed
//! - [`ActCheck`]: compares what an approver signed with an act that is no approval of a plan
//! - [`record`]: the journal of enrolments and of the policy in force
//! - `act`: whether an approver signed an act: to continue, to permit, to accept
//! - `approvers`: the people whose signature makes an approval a verified one
//! - `check`: compares what the policy asks for with how a person was recognised
//! - `passkey`: passkeys: keys of a browser, a phone or a security key (WebAuthn), and the check of what they signed
//! - [`changes`]: what the records changed about who may decide
//! - `policy`: what the settings ask of an approval, by channel and by risk

mod act;
mod approvers;
pub mod changes;
mod check;
mod passkey;
mod policy;
pub mod record;

pub use crate::presence::PasskeyAssertion;
pub use act::ActCheck;
pub use approvers::{Approver, ApproverKey, Approvers, SealedKey};
pub use check::{AgentSandbox, AgentsSeen, ApprovalCheck};
pub use passkey::{Passkey, PasskeyKey, challenge};
pub use policy::{ApprovalPolicy, ApprovalRule, Require, Risk};
