//! Which recognition of a person an approval needs.
//!
//! - [`ApprovalPolicy`]: what the settings ask for, by channel and by risk
//! - [`Risk`]: what a plan may do
//! - [`ApprovalCheck`]: compares the policy with how a person was recognised
//! - [`ApproverKey`], [`Approvers`]: the keys of enrolled approvers
//! - [`Passkey`]: a key of a browser, a phone or a security key, and the check of what it signed
//! - [`record`]: the journal of enrolments and of the policy in force
//! - `approvers`: the people whose signature makes an approval a verified one
//! - `check`: compares what the policy asks for with how a person was recognised
//! - `passkey`: passkeys: keys of a browser, a phone or a security key (WebAuthn), and the check of what they signed
//! - [`changes`]: what the records changed about who may decide
//! - `policy`: what the settings ask of an approval, by channel and by risk

mod approvers;
pub mod changes;
mod check;
mod passkey;
mod policy;
pub mod record;

pub use approvers::{Approver, ApproverKey, Approvers, SealedKey};
pub use check::{AgentSandbox, AgentsSeen, ApprovalCheck};
pub use passkey::{Passkey, PasskeyAssertion, PasskeyKey, challenge};
pub use policy::{ApprovalPolicy, ApprovalRule, Require, Risk};
