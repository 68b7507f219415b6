//! The commands of git that only read. Options that write (`--output`), run a program (`--ext-diff`, `--textconv`, `-O`), or
//! name another repository or configuration (`-C`, `-c`, `--git-dir`) are on no list.

use super::Word;
use super::programs::takes;

struct GitReader {
    names: &'static [&'static str],
    letters: &'static str,
    valued: &'static str,
    long: &'static [&'static [&'static str]],
    operands: Operands,
}

/// Options without a value, so the word after one of them is not its value.
const ALONE: &[&str] = &[
    "-a",
    "-r",
    "-v",
    "-vv",
    "-z",
    "--all",
    "--global",
    "--local",
    "--name-only",
    "--remotes",
    "--show-origin",
    "--system",
    "--verbose",
];

/// Words that are no options.
enum Operands {
    Any,
    /// Any after one of these options; without them a name makes something.
    After(&'static [&'static str]),
    /// The first is one of these, or there is none.
    First(&'static [&'static str]),
    /// One of these options, always.
    Needs(&'static [&'static str]),
}

const DIFF: &[&str] = &[
    "--abbrev",
    "--binary",
    "--cached",
    "--check",
    "--color",
    "--color-words",
    "--compact-summary",
    "--diff-algorithm",
    "--diff-filter",
    "--dirstat",
    "--exit-code",
    "--find-copies",
    "--find-renames",
    "--full-index",
    "--function-context",
    "--histogram",
    "--ignore-all-space",
    "--ignore-blank-lines",
    "--ignore-space-at-eol",
    "--ignore-space-change",
    "--merge-base",
    "--minimal",
    "--name-only",
    "--name-status",
    "--no-color",
    "--no-ext-diff",
    "--no-index",
    "--no-patch",
    "--no-prefix",
    "--no-renames",
    "--no-textconv",
    "--numstat",
    "--patch",
    "--patience",
    "--pickaxe-all",
    "--pickaxe-regex",
    "--quiet",
    "--raw",
    "--relative",
    "--shortstat",
    "--staged",
    "--stat",
    "--summary",
    "--text",
    "--unified",
    "--word-diff",
];
const LOG: &[&str] = &[
    "--abbrev-commit",
    "--after",
    "--all",
    "--all-match",
    "--ancestry-path",
    "--author",
    "--author-date-order",
    "--before",
    "--boundary",
    "--branches",
    "--cherry-pick",
    "--children",
    "--committer",
    "--count",
    "--date",
    "--date-order",
    "--decorate",
    "--first-parent",
    "--follow",
    "--format",
    "--full-history",
    "--graph",
    "--grep",
    "--invert-grep",
    "--left-right",
    "--max-count",
    "--merges",
    "--no-abbrev-commit",
    "--no-decorate",
    "--no-merges",
    "--oneline",
    "--parents",
    "--pretty",
    "--remotes",
    "--reverse",
    "--simplify-by-decoration",
    "--since",
    "--skip",
    "--source",
    "--tags",
    "--topo-order",
    "--until",
    "--walk-reflogs",
];
const REFS: &[&str] = &[
    "--all",
    "--color",
    "--column",
    "--contains",
    "--count",
    "--format",
    "--ignore-case",
    "--list",
    "--merged",
    "--no-color",
    "--no-column",
    "--no-contains",
    "--no-merged",
    "--points-at",
    "--remotes",
    "--show-current",
    "--sort",
    "--verbose",
];
const LISTING: &[&str] = &["-l", "--contains", "--list", "--merged", "--no-contains", "--no-merged", "--points-at"];
const REV_PARSE: &[&str] = &[
    "--abbrev-ref",
    "--absolute-git-dir",
    "--all",
    "--branches",
    "--git-common-dir",
    "--git-dir",
    "--is-bare-repository",
    "--is-inside-work-tree",
    "--quiet",
    "--remotes",
    "--short",
    "--show-cdup",
    "--show-prefix",
    "--show-toplevel",
    "--symbolic",
    "--symbolic-full-name",
    "--tags",
    "--verify",
];

const COMMANDS: [GitReader; 15] = [
    GitReader {
        names: &["status"],
        letters: "abdelmnorsuvzl",
        valued: "",
        long: &[&[
            "--ahead-behind",
            "--branch",
            "--ignored",
            "--long",
            "--no-ahead-behind",
            "--no-renames",
            "--porcelain",
            "--short",
            "--show-stash",
            "--untracked-files",
            "--verbose",
        ]],
        operands: Operands::Any,
    },
    GitReader { names: &["diff"], letters: "abBCDMpRsuUwWz", valued: "SG", long: &[DIFF], operands: Operands::Any },
    GitReader {
        names: &["log", "show"],
        letters: "abBcCDgimMnpPRsuUwWz",
        valued: "LSG",
        long: &[DIFF, LOG],
        operands: Operands::Any,
    },
    GitReader { names: &["rev-list"], letters: "in", valued: "", long: &[LOG], operands: Operands::Any },
    GitReader { names: &["branch"], letters: "arv", valued: "", long: &[REFS], operands: Operands::After(LISTING) },
    GitReader { names: &["tag"], letters: "ln", valued: "", long: &[REFS], operands: Operands::After(LISTING) },
    GitReader { names: &["for-each-ref", "show-ref"], letters: "", valued: "", long: &[REFS], operands: Operands::Any },
    GitReader {
        names: &["remote"],
        letters: "v",
        valued: "",
        long: &[&["--verbose"]],
        operands: Operands::First(&["get-url"]),
    },
    GitReader { names: &["rev-parse"], letters: "q", valued: "", long: &[REV_PARSE], operands: Operands::Any },
    GitReader {
        names: &["ls-files", "ls-tree"],
        letters: "cdikmorstuvz",
        valued: "x",
        long: &[&[
            "--cached",
            "--deleted",
            "--exclude-standard",
            "--full-name",
            "--ignored",
            "--long",
            "--modified",
            "--name-only",
            "--others",
            "--stage",
            "--unmerged",
        ]],
        operands: Operands::Any,
    },
    GitReader {
        names: &["blame"],
        letters: "bCefLlMnstw",
        valued: "",
        long: &[&["--date", "--line-porcelain", "--porcelain", "--show-email", "--since"]],
        operands: Operands::Any,
    },
    GitReader {
        names: &["grep"],
        letters: "abcEFGhHiIlLmnopPqrsvwWxABC",
        valued: "e",
        long: &[&[
            "--all-match",
            "--and",
            "--break",
            "--cached",
            "--column",
            "--count",
            "--files-with-matches",
            "--files-without-match",
            "--fixed-strings",
            "--full-name",
            "--heading",
            "--ignore-case",
            "--line-number",
            "--max-depth",
            "--name-only",
            "--not",
            "--only-matching",
            "--or",
            "--show-function",
            "--untracked",
            "--word-regexp",
        ]],
        operands: Operands::Any,
    },
    GitReader {
        names: &["merge-base", "describe", "cat-file"],
        letters: "apst",
        valued: "",
        long: &[&["--all", "--always", "--is-ancestor", "--long", "--tags"]],
        operands: Operands::Any,
    },
    GitReader {
        names: &["stash", "worktree", "reflog"],
        letters: "n",
        valued: "",
        long: &[&["--oneline", "--porcelain", "--stat"]],
        operands: Operands::First(&["list", "show"]),
    },
    GitReader {
        names: &["config"],
        letters: "lz",
        valued: "",
        long: &[&[
            "--get",
            "--get-all",
            "--get-regexp",
            "--global",
            "--list",
            "--local",
            "--name-only",
            "--show-origin",
            "--system",
        ]],
        operands: Operands::Needs(&["--get", "--get-all", "--get-regexp", "--list", "-l"]),
    },
];

pub(super) fn reads(arguments: &[Word]) -> bool {
    let is_global = |word: &&Word| matches!(word.text.as_str(), "--no-pager" | "--no-optional-locks");
    let skipped = arguments.iter().take_while(is_global).count();
    let Some((command, rest)) = arguments[skipped..].split_first() else { return false };
    if skipped == 0 && rest.is_empty() && matches!(command.text.as_str(), "--version" | "version") {
        return true;
    }
    // A name is never put together, and signatures are checked by a program.
    let asks_program = |word: &Word| word.text.contains("%G") || word.text.contains("(signature");
    if command.glob.is_some() || rest.iter().any(asks_program) {
        return false;
    }
    let Some(reader) = COMMANDS.iter().find(|reader| reader.names.contains(&command.text.as_str())) else {
        return false;
    };
    rest.iter().all(|word| reader.takes(word)) && reader.operands.fit(&command.text, rest)
}

impl GitReader {
    fn takes(&self, word: &Word) -> bool {
        self.long.iter().any(|long| takes(self.letters, self.valued, long, word))
    }
}

impl Operands {
    fn fit(&self, command: &str, words: &[Word]) -> bool {
        // In `git branch --format --list NAME` the second option is the value of the first.
        let has_one_of = |options: &[&str]| {
            let first = words.iter().find(|word| !ALONE.contains(&word.text.as_str()));
            first.is_some_and(|word| {
                options.contains(&word.text.split_once('=').map_or(word.text.as_str(), |(name, _)| name))
            })
        };
        let mut operands = words.iter().filter(|word| !word.is_option());
        match self {
            Self::Any => true,
            Self::After(options) => operands.next().is_none() || has_one_of(options),
            Self::Needs(options) => has_one_of(options),
            Self::First(names) => match words.first() {
                None => command != "stash" && command != "worktree",
                Some(first) if first.is_option() => command == "remote" && operands.next().is_none(),
                Some(first) => {
                    let shows = first.text != "show" || command != "worktree";
                    first.glob.is_none() && names.contains(&first.text.as_str()) && shows
                }
            },
        }
    }
}
