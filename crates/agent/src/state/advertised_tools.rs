//! The tools that a model is offered. They are the same in almost every request, and putting them together costs more than the
//! rest of a request, so the latest sets are kept.

use std::sync::{Arc, Mutex, PoisonError};

use planwright_core::gate::{ASK_PERSON, AutoTool, GateContext, MemoryTool, PlanTool, WorkbookTool};
use planwright_core::model::ToolSpec;
use planwright_core::policy::Policy;

use crate::toolbox::Tool;

/// Sets that are kept: one for each state of plan work and each specialist that is in use.
const CAPACITY: usize = 64;
/// Tokens that a provider adds for each tool.
const FRAME: u32 = 12;
/// The bytes of a token in the description of a tool. An exact count would be no closer, because every provider writes tools in
/// a form of its own, and it takes a quarter of the first turn after a start.
const BYTES_PER_TOKEN: usize = 4;

/// A set of tools, and about how many tokens its description takes.
#[derive(Debug)]
pub(crate) struct AdvertisedTools {
    pub(crate) specs: Arc<[ToolSpec]>,
    pub(crate) tokens: u32,
}

impl AdvertisedTools {
    pub(crate) fn new(specs: Vec<ToolSpec>) -> Self {
        let tokens = specs.iter().fold(0_u32, |sum, tool| sum.saturating_add(estimated_tokens(tool)));
        Self { specs: specs.into(), tokens }
    }
}

impl AdvertisedTools {
    /// The tools that matter most, in about this many tokens. Those about plans are always among them.
    pub(crate) fn within(&self, most: u32) -> Self {
        let mut places: Vec<_> = (0..self.specs.len()).collect();
        places.sort_by_key(|place| rank(&self.specs[*place].name));
        let mut taken = 0_u32;
        places.retain(|place| {
            let tool = &self.specs[*place];
            let tokens = taken.saturating_add(estimated_tokens(tool));
            let fits = rank(&tool.name) == 0 || tokens <= most;
            if fits {
                taken = tokens;
            }
            fits
        });
        places.sort_unstable();
        Self::new(places.into_iter().map(|place| self.specs[place].clone()).collect())
    }
}

/// How early a tool is left out where there is no room for all of them: the highest first.
fn rank(name: &str) -> u8 {
    match name {
        _ if PlanTool::named(name).is_some() => 0,
        ASK_PERSON | "task_update" | "read_file" | "write_file" | "edit_file" | "run_command" => 1,
        "list_files" | "grep_files" | "glob_files" | "delete_file" | "move_file" => 2,
        _ if MemoryTool::named(name).is_some() || AutoTool::named(name).is_some() => 5,
        _ if WorkbookTool::named(name).is_some() => 4,
        // Tools of upstream servers, and specialists.
        _ => 3,
    }
}

fn estimated_tokens(tool: &ToolSpec) -> u32 {
    let bytes = tool.name.len() + tool.description.len() + tool.input_schema.to_string().len();
    u32::try_from(bytes.div_ceil(BYTES_PER_TOKEN)).unwrap_or(u32::MAX).saturating_add(FRAME)
}

/// Everything that a set follows from.
#[derive(Debug, Clone)]
pub(crate) struct ToolsKey {
    pub(crate) situation: GateContext,
    pub(crate) policy: Arc<Policy>,
    /// The names that a specialist is limited to.
    pub(crate) permitted: Option<Vec<String>>,
    /// Every other tool of the process.
    pub(crate) tools: Vec<Arc<dyn Tool>>,
}

impl ToolsKey {
    /// Policies and tools are told apart by their place in memory, which the key keeps from being used again.
    fn is(&self, other: &Self) -> bool {
        self.situation == other.situation
            && self.permitted == other.permitted
            && Arc::ptr_eq(&self.policy, &other.policy)
            && self.tools.len() == other.tools.len()
            && self.tools.iter().zip(&other.tools).all(|(one, other)| Arc::ptr_eq(one, other))
    }
}

/// The sets that were used last, the latest at the end.
#[derive(Debug, Default)]
pub(crate) struct AdvertisedToolsCache {
    kept: Mutex<Vec<(ToolsKey, Arc<AdvertisedTools>)>>,
}

impl AdvertisedToolsCache {
    pub(crate) fn get_or_make(
        &self,
        key: ToolsKey,
        make: impl FnOnce(&ToolsKey) -> AdvertisedTools,
    ) -> Arc<AdvertisedTools> {
        let lock = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = |kept: &[(ToolsKey, Arc<AdvertisedTools>)]| kept.iter().rposition(|(known, _)| known.is(&key));
        {
            let mut kept = lock();
            if let Some(place) = found(&kept) {
                let last = kept.len() - 1;
                kept.swap(place, last);
                return Arc::clone(&kept[last].1);
            }
        }
        let made = Arc::new(make(&key));
        let mut kept = lock();
        if kept.len() >= CAPACITY {
            kept.remove(0);
        }
        kept.push((key, Arc::clone(&made)));
        made
    }
}

#[cfg(test)]
mod tests {
    use planwright_core::conversation::CountTokens as _;
    use serde_json::json;
    use tempfile::TempDir;

    use super::*;
    use crate::tokens::Tokens;
    use crate::toolbox::files::{FileLimits, FileTools};

    #[test]
    fn the_estimate_is_close_to_the_count() {
        let folder = TempDir::new().unwrap();
        let files = FileTools::new(folder.path().to_owned(), FileLimits::default());
        let own = files.tools().into_iter().map(|tool| tool.spec().clone());
        let described = |description: &str| ToolSpec {
            name: "search".to_owned(),
            description: description.to_owned(),
            input_schema: json!({"type": "object", "properties": {"query": {"type": "string"}}}),
        };
        let others = [
            "Sucht in allen Rechnungen nach einem Text und gibt höchstens zwanzig Treffer mit Datum und Betrag zurück.",
            "Ищет текст во всех счетах и возвращает не более двадцати совпадений с датой и суммой.",
            "在所有发票中搜索文本,最多返回二十个包含日期和金额的匹配项。",
            "すべての請求書からテキストを検索し、日付と金額を含む最大二十件の一致を返します。",
        ];
        for tool in own.chain(others.map(described)) {
            let text = format!("{}{}{}", tool.name, tool.description, tool.input_schema);
            let (estimated, counted) = (estimated_tokens(&tool) - FRAME, Tokens::default().count(&text));
            assert!(estimated * 10 >= counted * 9, "{text}: {estimated} instead of {counted}");
            assert!(estimated * 10 <= counted * 14, "{text}: {estimated} instead of {counted}");
        }
    }
}
