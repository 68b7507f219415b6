//! What the kernel tells about processes, made to tell something else.

use planwright_core::approval::Require;
use planwright_test_support::prerequisites::{Prerequisite, skip};
use serde_json::json;

use crate::place::compare;
use crate::results::AttackResult;
use crate::shell::until;
use crate::stage::{PLAN, PROGRAM, Stage, attack, done, has_namespaces, in_terminal, result_of};

/// In a time namespace every process seems to have started earlier, or later.
fn in_time_namespace(seconds: i32, command: &str) -> String {
    format!("unshare -UrTf --boottime {seconds} {command}")
}

fn has_time_namespaces() -> bool {
    if !has_namespaces() {
        return false;
    }
    let made = std::process::Command::new("sh").args(["-c", &in_time_namespace(100, "true")]).output();
    let works = made.is_ok_and(|output| output.status.success());
    if !works {
        skip(Prerequisite::Sandbox, "a time namespace cannot be made");
    }
    works
}

/// The terminal seems to be older than the agent, and no ancestor has the start time that is in the record.
#[test]
fn time_namespace() {
    if has_time_namespaces() {
        attack("time_namespace", |stage| {
            let approve = stage.approve_command();
            for seconds in [-10, -100, 100] {
                stage.agent.run(&in_time_namespace(seconds, &in_terminal(&approve)));
            }
            stage.result()
        });
    }
}

/// The agent opens another session from there: the recorded program starts in the future, and no process is one of it.
#[test]
fn time_namespace_client() {
    if has_time_namespaces() {
        attack("time_namespace_client", |stage| {
            let session = "mcp:attack-later";
            stage.write_requests("plan_set_content", &json!({ "plan_markdown": PLAN }));
            stage.write("later.sh", &format!("{PROGRAM} mcp --session {session} < requests\ntrue\n"));
            done(&stage.agent.run(&in_time_namespace(100_000, "sh later.sh")));
            let digest = stage.plan_of(session, 1)["digest"].as_str().unwrap().to_owned();
            let approve = format!("{PROGRAM} plan approve 1 --session {session} --digest {digest} --later");
            stage.agent.run(&in_terminal(&approve));
            result_of(&stage.plan_of(session, 1))
        });
    }
}

/// The namespaces of the agent, as it sees them before it leaves them.
const NOTE_NAMESPACES: &str = "for n in /proc/self/ns/*; do echo ${n##*/} $(readlink $n); done > namespaces";

/// Describes this process as the first one of a terminal, old and adopted by the system, in the namespaces that it was in.
const DESCRIBE: &str = r#"p=$$
mkdir -p fake/sys/kernel/random fake/$p/ns fake/1
cat /proc/sys/kernel/random/boot_id > fake/sys/kernel/random/boot_id
while read name space; do ln -s "$space" fake/$p/ns/$name; done < namespaces
ln -s $p fake/self
rest="0 0 0 0 0 0 0 0 0 0 0 0 0 0"
echo "$p (planwright) S 1 $p $p 34999 $rest 100 0 0" > fake/$p/stat
echo "1 (systemd) S 0 1 1 0 $rest 1 0 0" > fake/1/stat
cat /proc/self/cgroup > fake/$p/cgroup
"#;

fn with_false_proc(stage: &mut Stage, mounts: &str) -> AttackResult {
    let approve = stage.approve_command();
    stage.write("false.sh", &format!("{DESCRIBE}{mounts}\nexec {approve}\n"));
    stage.agent.run(NOTE_NAMESPACES);
    stage.agent.run("setsid --wait unshare -Urm sh false.sh < /dev/null");
    stage.result()
}

/// Another folder is mounted over `/proc`.
#[test]
fn false_proc() {
    if has_namespaces() {
        attack("false_proc", |stage| with_false_proc(stage, "mount --bind fake /proc"));
    }
}

/// The kernel's `/proc` stays, and one file and one folder in it are others.
#[test]
fn false_proc_files() {
    if has_namespaces() {
        attack("false_proc_files", |stage| {
            with_false_proc(stage, "mount --bind fake/$p/stat /proc/$p/stat\nmount --bind fake/$p/ns /proc/$p/ns")
        });
    }
}

/// Puts real files of the namespaces that the agent was in over those of the program, in namespaces of its own.
const FORGE: &str = r#"import ctypes, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def mount(source, target, kind, flags):
    if libc.mount(source.encode(), target.encode(), kind.encode() if kind else None, flags, None):
        sys.exit("mount: " + os.strerror(ctypes.get_errno()))
os.makedirs("spaces", exist_ok=True)
mount("none", "spaces", "tmpfs", 0)
for fd, name in ((7, "user"), (8, "pid"), (9, "time")):
    open("spaces/" + name, "w").close()
    mount("/proc/self/fd/%d" % fd, "spaces/" + name, None, 4096)
master, slave = os.openpty()
terminal = os.ttyname(slave)
child = os.fork()
if child == 0:
    os.setsid()
    fd = os.open(terminal, os.O_RDWR)
    mount("spaces", "/proc/%d/ns" % os.getpid(), None, 4096 | 16384)
    for number in (0, 1, 2):
        os.dup2(fd, number)
    os.execv(sys.argv[1], sys.argv[1:])
while os.waitpid(child, os.WNOHANG)[0] == 0:
    os.write(master, b"let me in\n")
    time.sleep(0.1)
"#;

#[test]
fn false_namespaces() {
    if has_namespaces() {
        attack("false_namespaces", |stage| {
            let approve = stage.approve_command();
            stage.write("forge.py", FORGE);
            stage.write(
                "forge.sh",
                &format!(
                    "exec 7</proc/self/ns/user 8</proc/self/ns/pid 9</proc/self/ns/time\n\
                     exec unshare -Urmpf --mount-proc python3 forge.py {approve}\n"
                ),
            );
            stage.agent.run("sh forge.sh < /dev/null");
            stage.result()
        });
    }
}

/// Something is mounted over the processes of the agent's program, which then seems to have ended.
#[test]
fn hidden_process() {
    if has_namespaces() {
        attack("hidden_process", |stage| {
            let approve = stage.approve_command();
            let script = format!("mount -t tmpfs none /proc/$1\n{}\n", in_terminal(&approve));
            stage.write("hide.sh", &script);
            // Root needs no user namespace for it.
            for how in ["-Urm", "-m"] {
                let ran = stage.agent.run("echo $$; cut -d' ' -f4 /proc/$$/stat").output;
                let shell = ran.lines().next().unwrap().trim().to_owned();
                stage.detach("setsid", &format!("unshare {how} sh hide.sh {shell}")).end();
            }
            stage.result()
        });
    }
}

/// Opens a terminal and leaves it to a process whose parent ends, so that an older program adopts it. That program did not open the
/// terminal and knows nothing of it.
const LEAVE: &str = r#"import fcntl, os, subprocess, sys, termios, time
master, slave = os.openpty()
if os.fork():
    os._exit(0)
parent = os.getppid()
os.setsid()
fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
time.sleep(0.1)
while os.getppid() == parent and parent != int(sys.argv[1]):
    time.sleep(0.01)
child = subprocess.Popen(sys.argv[2:], stdin=slave, stdout=open("left.out", "w"), stderr=subprocess.STDOUT)
while child.poll() is None:
    os.write(master, b"let me in\n")
    time.sleep(0.1)
open("left.done", "w").close()
"#;

#[test]
fn subreaper() {
    let results = Require::ALL.map(|require| {
        let mut stage = Stage::with_subreaper(require);
        let approve = stage.approve_command();
        stage.write("leave.py", LEAVE);
        let reaper = stage.service.pid();
        stage.service.run(&format!("python3 leave.py {reaper} {approve}"));
        until(|| stage.path("left.done").exists().then_some(())).expect("it never ended");
        stage.result()
    });
    compare("subreaper", results);
}
