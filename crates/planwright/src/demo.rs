//! The demonstration: what an agent tries and what Planwright answers, with the real program in processes of their own, on a store in
//! a temporary folder. Every line that it prints is made from what was observed.
//!
//! - `stage`: the folder, the person's terminal, the agent's terminal, and commands in them
//! - `terminal`: a terminal whose first process has no ancestor of this program
//! - `model`: the model that the demonstration plays for Planwright's own agent
//! - `steps`: what is tried, and what has to be true afterwards
//! - `observed`: the answers of the program, read

mod model;
mod observed;
mod stage;
mod steps;
mod terminal;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use self::stage::{Broken, Stage};
use self::steps::STEPS;
use crate::cli::{DemoArgs, Global};
use crate::failure::{Exit, ExitResult, Failure};
use crate::signals::Signals;
use crate::terminal::palette::{BOLD, ERROR, GOOD};
use crate::terminal::screen::Screen;
use crate::terminal::text::{count, paint, shown_line};

pub(crate) async fn run(global: &Global, arguments: &DemoArgs) -> ExitResult {
    if let Some(terminal) = &arguments.terminal {
        return terminal::become_first(terminal, arguments);
    }
    if global.json {
        return Err(Failure::usage("the demonstration is for a person to read; it has no JSON output"));
    }
    if !cfg!(target_os = "linux") {
        let message = "the demonstration needs Linux: other systems do not tell which processes a terminal belongs to";
        return Err(Failure::unavailable(message));
    }
    if std::process::id() == 1 {
        return terminal::begin_below_shell();
    }
    let stopped = stop_on_signal()?;
    tokio::task::block_in_place(|| tell(Screen::new(global.json), &stopped))
}

/// The flag that ends the demonstration early. What it made is removed then as well.
fn stop_on_signal() -> Result<Arc<AtomicBool>, Failure> {
    let stopped = Arc::<AtomicBool>::default();
    let mut signals = Signals::new()?;
    let flag = Arc::clone(&stopped);
    tokio::spawn(async move {
        signals.next().await;
        flag.store(true, Ordering::Relaxed);
    });
    Ok(stopped)
}

fn tell(screen: Screen, stopped: &Arc<AtomicBool>) -> ExitResult {
    let mut stage = Stage::new(screen, Arc::clone(stopped))?;
    screen.print(&stage.introduction())?;
    let mut broken = 0_usize;
    let mut ended = Ok(());
    for (position, (title, step)) in STEPS.iter().enumerate() {
        screen.print(&format!("\n{}\n", paint(&format!("{}. {title}", position + 1), BOLD)))?;
        match step(&mut stage) {
            Ok(seen) => screen.print(&format!("  {} {}\n", paint("✔", GOOD), shown_line(&seen)))?,
            Err(Broken::DoesNotHold(seen)) => {
                broken += 1;
                screen.print(&format!("  {} this does not hold: {}\n", paint("✘", ERROR), shown_line(&seen)))?;
            }
            Err(Broken::Failed(failure)) => {
                ended = Err(failure);
                break;
            }
        }
    }
    let removed = stage.remove();
    ended?;
    removed?;
    let summary = match broken {
        0 => format!("All {} hold. The temporary folder is removed.", count(STEPS.len(), "step")),
        broken => format!("{broken} of {} do not hold. The temporary folder is removed.", count(STEPS.len(), "step")),
    };
    screen.print(&format!("\n{summary}\n"))?;
    Ok(if broken == 0 { Exit::Done } else { Exit::Unexpected })
}
