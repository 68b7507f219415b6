//! A specialist as a Markdown file: `agents/NAME.md`, with front matter as other agents have it.

use std::time::Duration;

use super::{Specialist, SpecialistOptions};
use crate::front_matter::{FrontMatter, split};
use crate::refusal::Refusal;
use crate::visible::quoted;

/// What such a file, or a table of the configuration, says about a specialist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SpecialistFile {
    pub about: Option<String>,
    pub instructions: Option<String>,
    pub options: SpecialistOptions,
    /// Keys that are not among [`SpecialistFile::KEYS`], such as those of another agent.
    pub unknown: Vec<String>,
}

impl SpecialistFile {
    pub const KEYS: &str = "name, description, tools, model, sandbox, model_calls, tool_calls, tokens and seconds";

    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        let FrontMatter { fields, body } = FrontMatter::parse(text)?;
        let mut file = Self::default();
        for (key, values) in fields {
            let one = || match values.as_slice() {
                [value] => Ok(value.clone()),
                _ => Err(format!("{} has one value", quoted(&key))),
            };
            let options = &mut file.options;
            match key.as_str() {
                "name" if one()? == name => {}
                "name" => return Err(format!("the name in it is {}; it has to be that of the file", quoted(&one()?))),
                "description" | "about" => file.about = Some(one()?),
                "tools" => {
                    options.tools = Some(match values.as_slice() {
                        [list] => split(list),
                        several => several.to_vec(),
                    });
                }
                "model" => options.model = Some(one()?),
                "sandbox" => options.sandbox = Some(one()?),
                "model_calls" => options.model_calls = Some(positive(&key, &one()?)?),
                "tool_calls" => options.tool_calls = Some(positive(&key, &one()?)?),
                "tokens" => options.tokens = Some(positive(&key, &one()?)?),
                "seconds" => options.time = Some(Duration::from_secs(u64::from(positive::<u32>(&key, &one()?)?))),
                _ => file.unknown.push(key),
            }
        }
        file.options.check_tool_names()?;
        if !body.trim().is_empty() {
            file.instructions = Some(body);
        }
        Ok(file)
    }

    /// A built-in specialist that is described anew keeps what is not said here.
    pub fn specialist(self, name: &str) -> Result<Specialist, Refusal> {
        let Self { about, instructions, options, unknown: _ } = self;
        let specialist = match (instructions, about, Specialist::built_in(name)) {
            (Some(text), None, _) => Specialist::from_text(name, &text),
            (Some(text), Some(about), _) => {
                let prompt = text.trim_start_matches('\u{feff}').trim().to_owned();
                Specialist { name: name.to_owned(), about, prompt, options: SpecialistOptions::default() }
            }
            (None, Some(about), Some(built_in)) => Specialist { about, ..built_in },
            (None, None, Some(built_in)) => built_in,
            (None, _, None) => {
                return Err(Refusal::invalid("a new agent needs `prompt`, the name of a file, or `instructions`"));
            }
        };
        specialist.check()?;
        Ok(Specialist { options, ..specialist })
    }
}

fn positive<N: TryFrom<u64>>(key: &str, text: &str) -> Result<N, String> {
    let number = text.parse::<u64>().ok().filter(|number| *number > 0).and_then(|number| N::try_from(number).ok());
    number.ok_or_else(|| format!("{}: {} is not a whole number from 1 up, or is too large", quoted(key), quoted(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_read() {
        let text = "---\nname: cook\ndescription: Cooks\ntools: read_file, run_command\nmodel: openai:gpt-5\n\
                    sandbox: read_only\nmodel_calls: 2\ntool_calls: 3\ntokens: 4\nseconds: 5\ncolor: red\n---\nStir.\n";
        let file = SpecialistFile::parse("cook", text).unwrap();
        assert_eq!(file.unknown, ["color"]);
        let cook = file.specialist("cook").unwrap();
        assert_eq!((cook.about.as_str(), cook.prompt.as_str()), ("Cooks", "Stir."));
        let options = SpecialistOptions {
            tools: Some(vec!["read_file".to_owned(), "run_command".to_owned()]),
            model: Some("openai:gpt-5".to_owned()),
            sandbox: Some("read_only".to_owned()),
            model_calls: Some(2),
            tool_calls: Some(3),
            tokens: Some(4),
            time: Some(Duration::from_secs(5)),
        };
        assert_eq!(cook.options, options);
    }

    #[test]
    fn the_prompt_is_the_rest_or_all_of_the_text() {
        let built_in = Specialist::built_in("coder").unwrap().prompt;
        for (instructions, about, prompt) in [
            (Some("Codes\n\nSlowly.\n"), None, "Slowly."),
            (Some("# Codes\n"), None, "Codes"),
            (Some("# Codes\n\nSlowly.\n"), Some("Codes slowly"), "# Codes\n\nSlowly."),
            (None, Some("Codes slowly"), built_in.as_str()),
            (None, None, built_in.as_str()),
        ] {
            let owned = |text: Option<&str>| text.map(str::to_owned);
            let file = SpecialistFile { instructions: owned(instructions), about: owned(about), ..Default::default() };
            assert_eq!(file.specialist("coder").unwrap().prompt, prompt);
        }
    }
}
