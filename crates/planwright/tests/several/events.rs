//! What the command line writes reaches the clients of a server.

use serde_json::Value;

use crate::journal::{receive, told};
use crate::program::{Program, planwright};
use crate::stores::Store;

const KEY: &str = "session-one";
const TIMES: usize = 4;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_typed_in_a_terminal_reaches_those_who_look_on_sqlite() {
    typed(Store::sqlite()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_typed_in_a_terminal_reaches_those_who_look_on_postgres() {
    typed(Store::postgres().await).await;
}

async fn typed(store: Store) {
    let servers = [Program::rehearsing(&store, &[]), Program::rehearsing(&store, &[])];
    servers[0].at().open(KEY).await;
    let mut followers = Vec::new();
    for server in &servers {
        let mut client = server.at().client().await;
        client.subscribe(KEY, Some(0)).await;
        followers.push((client, Vec::<(u64, Value)>::new()));
    }
    // A terminal and a server write at the same time, again and again.
    let at = servers[1].at();
    let talking = tokio::spawn(async move {
        for n in 0..TIMES {
            at.say(KEY, "How far are you?", &format!("message-{n}")).await.unwrap().with(200);
        }
    });
    for n in 0..TIMES {
        let style = ["document", "collect", "build"][n % 3];
        for line in [["on", style].as_slice(), &["off"]] {
            let mut command = planwright(&store);
            command.arg("plan").args(line).args(["--session", &format!("web:{KEY}")]);
            let ran = tokio::process::Command::from(command).output().await.unwrap();
            assert!(ran.status.success(), "{ran:?}");
            // Every client hears of it before anything else is typed.
            for (client, received) in &mut followers {
                let name = if line[0] == "on" { "plan_mode_enabled" } else { "plan_mode_disabled" };
                let heard =
                    |received: &[(u64, Value)]| received.iter().filter(|(_, event)| event["type"] == name).count();
                while heard(received) <= n {
                    received.push(client.entry().await);
                }
            }
        }
    }
    talking.await.unwrap();
    let journal = told(&store.engine().await, KEY).await;
    for (client, received) in &mut followers {
        receive(client, received, journal.len() as u64).await;
        assert_eq!(*received, journal);
    }
}
