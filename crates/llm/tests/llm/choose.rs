//! What people write to choose a model, and what they are told when it does not work.

use planwright_llm::choose::ProviderSettings;
use planwright_llm::{ChooseError, ModelChoice, Options, Provider, connect};

fn chosen(provider: Provider, name: &str) -> ModelChoice {
    ModelChoice::Provided { provider, name: name.to_owned() }
}

#[test]
fn the_five_forms_are_read() {
    for (text, expected) in [
        ("openai:gpt-5", chosen(Provider::OpenAi, "gpt-5")),
        ("OpenAI: gpt-5 ", chosen(Provider::OpenAi, "gpt-5")),
        ("anthropic:claude-sonnet-4-5", chosen(Provider::Anthropic, "claude-sonnet-4-5")),
        ("gemini:gemini-2.5-pro", chosen(Provider::Gemini, "gemini-2.5-pro")),
        ("ollama:qwen3:8b", chosen(Provider::Ollama, "qwen3:8b")),
        ("openai:meta-llama/Llama-3.1-8B", chosen(Provider::OpenAi, "meta-llama/Llama-3.1-8B")),
        ("rehearsal", ModelChoice::Rehearsal),
        (" Rehearsal ", ModelChoice::Rehearsal),
    ] {
        let choice: ModelChoice = text.parse().unwrap();
        assert_eq!(choice, expected, "{text}");
        assert_eq!(choice.to_string().parse::<ModelChoice>().unwrap(), expected, "{text}");
    }
}

#[test]
fn what_is_wrong_is_explained() {
    for (text, message) in [
        ("gpt-5", "did you mean `openai:gpt-5`?"),
        ("o3-mini", "did you mean `openai:o3-mini`?"),
        ("claude-sonnet-4-5", "did you mean `anthropic:claude-sonnet-4-5`?"),
        ("gemini-2.5-pro", "did you mean `gemini:gemini-2.5-pro`?"),
        ("llama3.2:3b", "did you mean `ollama:llama3.2:3b`?"),
        ("openai/gpt-5", "did you mean `openai:gpt-5`?"),
        ("mystery:1", "`openai:NAME`, `anthropic:NAME`, `gemini:NAME`, `ollama:NAME` or `rehearsal`"),
        ("something", "There is no model provider `something`"),
        ("", "There is no model provider"),
        ("openai:", "is missing after `openai:`, such as in `openai:gpt-5`"),
        ("ollama", "is missing after `ollama:`"),
        ("gpt\u{1b}[2J", "gpt⟦U+001B⟧[2J"),
    ] {
        let error = text.parse::<ModelChoice>().unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
        assert!(!error.contains('\u{1b}'));
    }
}

#[test]
fn without_a_choice_the_rehearsal_model_answers_whatever_keys_are_there() {
    for setting in [None, Some(""), Some("  ")] {
        let choice = ModelChoice::from_setting(setting).unwrap();
        let model = connect(&choice, |_| Some("sk-some-key".to_owned()), Options::default()).unwrap();
        assert_eq!(model.name(), "rehearsal");
    }
    assert!(ModelChoice::from_setting(Some("nonsense")).is_err());
}

fn connected(choice: &str, variables: &[(&str, &str)]) -> Result<String, ChooseError> {
    let lookup = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    connect(&choice.parse().unwrap(), lookup, Options::default()).map(|model| model.name().to_owned())
}

#[test]
fn a_key_that_is_missing_is_named_with_a_way_on() {
    for (choice, variable) in [
        ("openai:gpt-5", "OPENAI_API_KEY"),
        ("anthropic:claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("gemini:gemini-2.5-pro", "GEMINI_API_KEY"),
    ] {
        for variables in [&[][..], &[(variable, "  ")][..]] {
            let error = connected(choice, variables).unwrap_err().to_string();
            assert!(error.contains(&format!("set {variable}")), "{error}");
            assert!(error.contains("PLANWRIGHT_MODEL=rehearsal"), "{error}");
        }
        assert_eq!(connected(choice, &[(variable, "k")]).unwrap(), choice);
    }
    assert!(connected("gemini:gemini-2.5-pro", &[("GOOGLE_API_KEY", "k")]).is_ok());
    assert!(connected("ollama:qwen3", &[]).is_ok());
    assert!(
        connected("openai:local", &[("OPENAI_BASE_URL", "http://localhost:8080/v1")]).is_ok(),
        "local servers take none"
    );
    assert!(connected("anthropic:claude", &[("ANTHROPIC_BASE_URL", "http://localhost:8080")]).is_err());
}

#[test]
fn keys_are_never_shown() {
    let secret = "sk-very-secret";
    let error = connected("openai:gpt-5", &[("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", secret)]).unwrap_err();
    assert!(!error.to_string().contains(secret), "{error}");
    let only_key = |name: &str| (name == "OPENAI_API_KEY").then(|| secret.to_owned());
    let settings = ProviderSettings::read(Provider::OpenAi, &only_key).unwrap();
    assert!(!format!("{settings:?}").contains(secret), "{settings:?}");
    let error = connected("openai:gpt-5", &[("OPENAI_API_KEY", "sk-very\nsecret")]).unwrap_err();
    assert!(!error.to_string().contains("secret") && error.to_string().contains("OPENAI_API_KEY"), "{error}");
}

#[test]
fn addresses_are_taken_as_the_providers_tools_take_them() {
    for (provider, variable, given, expected) in [
        (Provider::OpenAi, "", "", "https://api.openai.com/v1/"),
        (Provider::OpenAi, "OPENAI_BASE_URL", "http://localhost:8080/v1", "http://localhost:8080/v1/"),
        (Provider::OpenAi, "OPENAI_BASE_URL", "https://openrouter.ai/api/v1/", "https://openrouter.ai/api/v1/"),
        (Provider::OpenAi, "OPENAI_BASE_URL", "https://a.example/v1?version=3", "https://a.example/v1/?version=3"),
        (Provider::Anthropic, "", "", "https://api.anthropic.com/v1/"),
        (Provider::Anthropic, "ANTHROPIC_BASE_URL", "https://proxy.example", "https://proxy.example/v1/"),
        (Provider::Anthropic, "ANTHROPIC_BASE_URL", "https://proxy.example/v1", "https://proxy.example/v1/"),
        (Provider::Gemini, "", "", "https://generativelanguage.googleapis.com/v1beta/"),
        (Provider::Gemini, "GEMINI_BASE_URL", "https://proxy.example/", "https://proxy.example/v1beta/"),
        (Provider::Gemini, "GEMINI_BASE_URL", "https://proxy.example/v1", "https://proxy.example/v1/"),
        (Provider::Ollama, "", "", "http://localhost:11434/"),
        (Provider::Ollama, "OLLAMA_BASE_URL", "http://box:1234", "http://box:1234/"),
        (Provider::Ollama, "OLLAMA_HOST", "box", "http://box:11434/"),
        (Provider::Ollama, "OLLAMA_HOST", "box:1234", "http://box:1234/"),
        (Provider::Ollama, "OLLAMA_HOST", "0.0.0.0", "http://127.0.0.1:11434/"),
        (Provider::Ollama, "OLLAMA_HOST", "0.0.0.0:1234", "http://127.0.0.1:1234/"),
        (Provider::Ollama, "OLLAMA_HOST", ":1234", "http://127.0.0.1:1234/"),
        (Provider::Ollama, "OLLAMA_HOST", "https://box.example", "https://box.example/"),
    ] {
        let lookup = |name: &str| (name == variable).then(|| given.to_owned());
        let settings = ProviderSettings::read(provider, &lookup).unwrap();
        assert_eq!(settings.address(), expected, "{variable}={given}");
    }
}

#[test]
fn what_is_no_address_is_refused() {
    for given in ["localhost:8080", "ftp://x", "http://", "http:///x", "http://a b", "https://?x"] {
        let error = connected("openai:x", &[("OPENAI_BASE_URL", given)]).unwrap_err().to_string();
        assert!(error.contains("OPENAI_BASE_URL") && error.contains("`https://host/v1`"), "{error}");
    }
    assert!(connected("ollama:x", &[("OLLAMA_BASE_URL", "http://box?x=1")]).is_err());
}

#[test]
fn the_window_can_be_told() {
    let none = |_: &str| None;
    let model = |choice: &str, options: Options, lookup: &dyn Fn(&str) -> Option<String>| {
        connect(&choice.parse().unwrap(), lookup, options).unwrap().context_tokens()
    };
    let told = Options { context_tokens: Some(5000), ..Options::default() };
    assert_eq!(model("rehearsal", told.clone(), &none), 5000);
    assert_eq!(model("ollama:qwen3", told, &none), 5000);
    assert_eq!(model("ollama:qwen3", Options::default(), &none), 8192);
    let length = |name: &str| (name == "OLLAMA_CONTEXT_LENGTH").then(|| "32768".to_owned());
    assert_eq!(model("ollama:qwen3", Options::default(), &length), 32768);
    let key = |name: &str| name.ends_with("KEY").then(|| "k".to_owned());
    assert_eq!(model("anthropic:claude-sonnet-4-5", Options::default(), &key), 200_000);
}
