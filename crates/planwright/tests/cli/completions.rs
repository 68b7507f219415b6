//! What completes commands in a shell, and the manual pages, are made from the program's own commands.

use std::process::Command;

use crate::world::{World, ran};

#[test]
fn every_shell_completes_the_commands_there_are() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = world.run(&format!("completions {shell}")).done().stdout;
        for word in ["approve", "mcp-server", "completions"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
    world.run("completions tcsh").exits(2).complains("powershell");
}

/// The script is loaded into the real shell, which is asked what completes a line.
#[test]
fn bash_completes_a_command() {
    let world = World::new();
    let script = world.path("planwright.bash");
    std::fs::write(&script, world.run("completions bash").done().stdout).unwrap();
    let ask = format!(
        "source '{}'; COMP_WORDS=(planwright plan appr); COMP_CWORD=2; \
         $(complete -p planwright | sed 's/.* -F \\([^ ]*\\) .*/\\1/') planwright appr plan; echo \"${{COMPREPLY[@]}}\"",
        script.display()
    );
    let output = Command::new("bash").args(["--norc", "-c", &ask]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "approve", "{output:?}");
}

#[test]
fn completions_are_put_where_the_shell_looks_for_them() {
    let world = World::new();
    let home = world.path("home");
    let installed = |shell: &str| {
        let mut command = world.command();
        command.env("HOME", &home).env_remove("XDG_DATA_HOME").env_remove("XDG_CONFIG_HOME");
        ran(command.args(["completions", shell, "--install"]))
    };
    installed("bash").done().says("open");
    installed("zsh").done().says("fpath");
    installed("fish").done();
    for path in [
        ".local/share/bash-completion/completions/planwright",
        ".local/share/zsh/site-functions/_planwright",
        ".config/fish/completions/planwright.fish",
    ] {
        assert!(std::fs::read_to_string(home.join(path)).unwrap().contains("mcp-server"), "{path}");
    }
    installed("powershell").exits(2).complains("profile");
}

/// What another program linked there would be overwritten.
#[cfg(unix)]
#[test]
fn no_link_is_written_through() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let world = World::new();
    let (pages, home, kept) = (world.path("pages"), world.path("home"), world.path("kept"));
    let completions = home.join(".local/share/bash-completion/completions");
    std::fs::write(&kept, "mine").unwrap();
    for (folder, name) in [(&pages, "planwright.1"), (&completions, "planwright")] {
        std::fs::create_dir_all(folder).unwrap();
        symlink(&kept, folder.join(name)).unwrap();
    }
    world.run(&format!("man {}", pages.display())).done();
    let mut command = world.command();
    command.env("HOME", &home).env_remove("XDG_DATA_HOME").env_remove("XDG_CONFIG_HOME");
    ran(command.args(["completions", "bash", "--install"])).done();
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "mine");
    for file in [pages.join("planwright.1"), completions.join("planwright")] {
        let about = file.symlink_metadata().unwrap();
        assert!(about.is_file() && about.permissions().mode() & 0o777 == 0o644, "{about:?}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let world = World::new();
    let pages = world.path("pages");
    world.run(&format!("man {}", pages.display())).done().says("pages are in");
    let page = |name: &str| std::fs::read_to_string(pages.join(name)).unwrap_or_else(|_| panic!("{name} is missing"));
    assert!(page("planwright.1").contains(".SH NAME"));
    assert!(page("planwright-plan-approve.1").contains("digest"));
    for line in world.run("--help").done().stdout.lines().skip_while(|line| *line != "Commands:").skip(1) {
        let Some(line) = line.strip_prefix("  ") else { break };
        // A description goes on further to the right.
        let name = line.split_whitespace().next().unwrap_or_default();
        if name != "help" && line.starts_with(name) {
            assert!(page(&format!("planwright-{name}.1")).contains(".TH"), "{name}");
        }
    }
    assert!(!pages.join("planwright-hook.1").exists(), "hooks are called by clients, not by people");
}
