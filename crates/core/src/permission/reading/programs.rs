//! The programs that only read with the options listed here. An option that is not listed may write a file or run a program
//! in some version of the program: `sort -o`, `rg --pre`, `tree -o`, `file -C`, `grep --filter`.

use super::{Glob, Word, git};

/// What a program takes.
struct Reader {
    names: &'static [&'static str],
    /// Options of one letter, which may stand together.
    letters: &'static str,
    /// Options of one letter whose value is the rest of the word.
    valued: &'static str,
    /// The other options, as they are written, up to a `=`.
    long: &'static [&'static str],
}

/// Programs that have no option that writes a file or runs a program, in any version.
const ALWAYS: [&str; 35] = [
    "basename",
    "cat",
    "cksum",
    "cmp",
    "comm",
    "cut",
    "df",
    "dirname",
    "du",
    "echo",
    "expand",
    "false",
    "fold",
    "head",
    "id",
    "ls",
    "md5sum",
    "nl",
    "nproc",
    "od",
    "paste",
    "pwd",
    "readlink",
    "realpath",
    "rev",
    "seq",
    "sha1sum",
    "sha256sum",
    "stat",
    "tac",
    "tail",
    "tr",
    "true",
    "uname",
    "wc",
];

const READERS: [Reader; 9] = [
    Reader {
        names: &["grep", "egrep", "fgrep"],
        letters: "abcEFGhHIilLmnoPqrRsvwxABC",
        valued: "e",
        long: &[
            "--after-context",
            "--basic-regexp",
            "--before-context",
            "--binary-files",
            "--color",
            "--colour",
            "--context",
            "--count",
            "--exclude",
            "--exclude-dir",
            "--extended-regexp",
            "--files-with-matches",
            "--files-without-match",
            "--fixed-strings",
            "--ignore-case",
            "--include",
            "--invert-match",
            "--line-number",
            "--line-regexp",
            "--max-count",
            "--no-filename",
            "--no-messages",
            "--only-matching",
            "--perl-regexp",
            "--quiet",
            "--recursive",
            "--regexp",
            "--text",
            "--with-filename",
            "--word-regexp",
        ],
    },
    Reader {
        names: &["rg"],
        letters: "aABCcFHIiLlmNnoPqSsUuvwx0",
        valued: "egtTr",
        long: &[
            "--after-context",
            "--before-context",
            "--case-sensitive",
            "--color",
            "--column",
            "--context",
            "--count",
            "--count-matches",
            "--crlf",
            "--files",
            "--files-with-matches",
            "--files-without-match",
            "--fixed-strings",
            "--follow",
            "--glob",
            "--heading",
            "--hidden",
            "--iglob",
            "--ignore-case",
            "--invert-match",
            "--json",
            "--line-number",
            "--line-regexp",
            "--max-columns",
            "--max-count",
            "--max-depth",
            "--multiline",
            "--multiline-dotall",
            "--no-config",
            "--no-filename",
            "--no-heading",
            "--no-ignore",
            "--no-ignore-vcs",
            "--no-line-number",
            "--no-messages",
            "--null",
            "--only-matching",
            "--pcre2",
            "--quiet",
            "--regexp",
            "--replace",
            "--smart-case",
            "--sort",
            "--sortr",
            "--stats",
            "--text",
            "--trim",
            "--type",
            "--type-list",
            "--type-not",
            "--unrestricted",
            "--vimgrep",
            "--with-filename",
            "--word-regexp",
        ],
    },
    Reader {
        names: &["fd", "fdfind"],
        letters: "aeHIipsgFdtEuL0",
        valued: "",
        long: &[
            "--absolute-path",
            "--case-sensitive",
            "--exclude",
            "--extension",
            "--fixed-strings",
            "--full-path",
            "--glob",
            "--hidden",
            "--ignore-case",
            "--max-depth",
            "--max-results",
            "--min-depth",
            "--no-ignore",
            "--print0",
            "--size",
            "--type",
            "--unrestricted",
        ],
    },
    Reader {
        names: &["sort"],
        letters: "bdfghiMnRrVcCmsuz",
        valued: "kt",
        long: &[
            "--check",
            "--dictionary-order",
            "--field-separator",
            "--general-numeric-sort",
            "--human-numeric-sort",
            "--ignore-case",
            "--key",
            "--month-sort",
            "--numeric-sort",
            "--reverse",
            "--stable",
            "--unique",
            "--version-sort",
            "--zero-terminated",
        ],
    },
    Reader {
        names: &["diff"],
        letters: "abBcdEeiNnpqrstTuUwyZ",
        valued: "",
        long: &[
            "--brief",
            "--color",
            "--context",
            "--ignore-all-space",
            "--ignore-blank-lines",
            "--ignore-case",
            "--ignore-space-change",
            "--minimal",
            "--new-file",
            "--recursive",
            "--report-identical-files",
            "--side-by-side",
            "--strip-trailing-cr",
            "--suppress-common-lines",
            "--text",
            "--unified",
            "--width",
        ],
    },
    Reader {
        names: &["file"],
        letters: "bhikLN0",
        valued: "",
        long: &["--brief", "--dereference", "--mime", "--mime-encoding", "--mime-type"],
    },
    Reader {
        names: &["tree"],
        // The value of `-P` and `-I` is the next word, so that `tree -Po` writes.
        letters: "aCDdFfghiLnpQrstux",
        valued: "",
        long: &["--dirsfirst", "--du", "--filelimit", "--gitignore", "--noreport", "--prune"],
    },
    Reader {
        names: &["jq"],
        letters: "aceMnrSs",
        valued: "",
        long: &[
            "--arg",
            "--argjson",
            "--ascii-output",
            "--compact-output",
            "--exit-status",
            "--monochrome-output",
            "--null-input",
            "--raw-input",
            "--raw-output",
            "--slurp",
            "--sort-keys",
        ],
    },
    Reader { names: &["which"], letters: "as", valued: "", long: &[] },
];

/// The words of find that test, print or limit. Everything else of it may change something.
const FIND: [&str; 62] = [
    "-H",
    "-L",
    "-P",
    "-a",
    "-amin",
    "-and",
    "-anewer",
    "-atime",
    "-cmin",
    "-cnewer",
    "-ctime",
    "-daystart",
    "-depth",
    "-empty",
    "-executable",
    "-false",
    "-follow",
    "-fstype",
    "-gid",
    "-group",
    "-ilname",
    "-iname",
    "-inum",
    "-ipath",
    "-iregex",
    "-links",
    "-lname",
    "-ls",
    "-maxdepth",
    "-mindepth",
    "-mmin",
    "-mount",
    "-mtime",
    "-name",
    "-newer",
    "-newermt",
    "-nogroup",
    "-not",
    "-nouser",
    "-o",
    "-or",
    "-path",
    "-perm",
    "-print",
    "-print0",
    "-printf",
    "-prune",
    "-quit",
    "-readable",
    "-regex",
    "-regextype",
    "-samefile",
    "-size",
    "-true",
    "-type",
    "-uid",
    "-used",
    "-user",
    "-wholename",
    "-writable",
    "-xdev",
    "-xtype",
];

/// Whether the program only reads with these arguments.
pub(super) fn reads(program: &str, arguments: &[Word]) -> bool {
    let may_become_option = |word: &Word| word.glob == Some(Glob::Leading);
    if ALWAYS.contains(&program) {
        return true;
    }
    if arguments.iter().any(may_become_option) {
        return false;
    }
    let operands = || arguments.iter().filter(|word| !word.is_option());
    match program {
        "git" => git::reads(arguments),
        "find" => arguments.iter().filter(|word| word.is_option()).all(|word| is_find_word(&word.text)),
        "sed" => prints_lines(arguments),
        // `uniq IN OUT` writes OUT.
        "uniq" => {
            let is_plain = |word: &Word| word.glob.is_none() && takes("cdiu", "", &[], word);
            // Behind `--` a word with a `-` is the name of a file, too.
            let is_end = |word: &Word| word.text == "--";
            !arguments.iter().any(is_end) && arguments.iter().all(is_plain) && operands().count() < 2
        }
        "cd" => {
            arguments.len() == 1 && operands().count() == 1 && arguments[0].glob.is_none() && arguments[0].text != "-"
        }
        "date" => arguments.iter().all(|word| word.text.starts_with('+') || word.text == "-u"),
        "hostname" | "whoami" => arguments.is_empty(),
        // `command` runs what follows it, unless it is asked where that is.
        "command" => matches!(arguments, [option, name] if option.text == "-v" && !name.is_option()),
        _ => READERS
            .iter()
            .find(|reader| reader.names.contains(&program))
            .is_some_and(|reader| reader.takes_all(arguments)),
    }
}

impl Reader {
    fn takes_all(&self, arguments: &[Word]) -> bool {
        arguments.iter().all(|word| takes(self.letters, self.valued, self.long, word))
    }
}

/// Whether a word is an operand or an option on the list. A word after `--` is held to the same.
pub(super) fn takes(letters: &str, valued: &str, long: &[&str], word: &Word) -> bool {
    if !word.is_option() || word.text == "--" {
        return true;
    }
    if word.text.starts_with("--") {
        let name = word.text.split_once('=').map_or(word.text.as_str(), |(name, _)| name);
        return long.contains(&name);
    }
    for letter in word.text.chars().skip(1) {
        if valued.contains(letter) {
            return true;
        }
        if !(letters.contains(letter) || letter.is_ascii_digit() || letter == ',') {
            return false;
        }
    }
    true
}

fn is_find_word(word: &str) -> bool {
    // `-mtime -7`, `-size -10k`, `-perm -644`.
    let is_number = word.strip_prefix('-').is_some_and(|rest| {
        let digits = rest.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        !digits.is_empty() && digits.chars().all(|letter| letter.is_ascii_digit())
    });
    FIND.contains(&word) || is_number
}

/// `sed -n '10,20p' FILE …`: every other script may write or run something.
fn prints_lines(arguments: &[Word]) -> bool {
    let (options, operands): (Vec<_>, Vec<_>) = arguments.iter().partition(|word| word.is_option());
    let Some((script, _)) = operands.split_first() else { return false };
    let is_address =
        |text: &str| text == "$" || (!text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit()));
    let prints = |command: &str| {
        let lines = command.strip_suffix('p');
        lines.is_some_and(|lines| lines.is_empty() || lines.splitn(2, ',').all(is_address))
    };
    script.glob.is_none()
        && script.text.split(';').all(prints)
        && !options.is_empty()
        && options.iter().all(|word| word.text == "-n")
}
