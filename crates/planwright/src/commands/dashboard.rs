//! `planwright dashboard`: a link that signs one browser in. It is made where a person is recognised, so that the browser
//! counts as that person afterwards.

use serde_json::json;

use crate::approver;
use crate::cli::DashboardArgs;
use crate::context::Context;
use crate::failure::ExitResult;
use crate::terminal::time;

pub(crate) async fn run(context: &Context, arguments: &DashboardArgs) -> ExitResult {
    let person = match &arguments.approver {
        Some(name) => {
            let key = approver::unlock(&context.engine, &context.person, Some(name)).await?;
            approver::verified(&context.person, &key)
        }
        None => {
            approver::check_separate(context).await?;
            context.person.clone()
        }
    };
    let link = context.engine.approvals().make_link(&person).await?;
    let server =
        arguments.url.as_deref().map_or_else(|| context.dashboard.clone(), |url| url.trim_end_matches('/').to_owned());
    let address = format!("{}/#link={}", named_host(&server), link.secret);
    // The address is printed and not given to a program: the arguments of a program can be read by the agent, too.
    let describe = || {
        let until = time::absolute(link.ends);
        format!("{address}\n\nOpen it in your browser. It signs in one browser, once, until {until}.\n")
    };
    context.screen.answer(|| json!({ "url": address, "validUntil": link.ends }), describe)
}

/// Browsers make passkeys for names, and not for addresses.
fn named_host(server: &str) -> String {
    match server.strip_prefix("http://127.0.0.1") {
        Some(port) => format!("http://localhost{port}"),
        None => server.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_this_machine_is_named() {
        assert_eq!(named_host("http://127.0.0.1:7717"), "http://localhost:7717");
        assert_eq!(named_host("https://plans.example.org"), "https://plans.example.org");
    }
}
