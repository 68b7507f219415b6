//! What a line was about that cannot be read: too long to be kept, or not JSON. Its sender waits for an answer, and the
//! answer needs the request's id.
//!
//! The line is followed by its structure alone. What stands in strings does not matter, and neither does what a word
//! outside of them means, so neither half a surrogate pair nor a `NaN` is in the way.

use serde_json::Value;

use super::message::is_usable;

/// No id that is given back is longer.
const CAPACITY: usize = 1024;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RequestHint {
    /// The id of a request; null unless it is beyond doubt. Answers have ids, too, but those count the requests of this
    /// side: an error with one of them would meet another request of the client.
    pub(super) id: Value,
    /// Whether it is a call of a tool with an id.
    pub(super) is_call: bool,
}

/// Reads a line in pieces and keeps next to nothing of it.
#[derive(Debug, Default)]
pub(super) struct IdScanner {
    state: State,
    /// How many brackets are open.
    depth: usize,
    /// The last string or word directly in the message.
    token: Vec<u8>,
    /// The name whose value is being read.
    key: Option<String>,
    id: Found,
    method: Found,
    is_answer: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Start,
    /// A name or a value comes, or the end of what has none.
    Open,
    /// A name or a value is over.
    Closed,
    Word,
    String,
    Escape,
    /// The message is over.
    End,
    /// From here on the structure is anyone's guess.
    Broken,
}

#[derive(Debug, Default)]
enum Found {
    #[default]
    Nothing,
    Once(Value),
    Twice,
}

pub(super) fn recover_id(line: &[u8]) -> RequestHint {
    let mut scanner = IdScanner::default();
    scanner.feed(line);
    if scanner.state == State::Broken
        && let Found::Nothing = scanner.id
    {
        scanner.id = id_at_the_end(line);
    }
    scanner.hint()
}

/// Where most clients write it: `…,"jsonrpc":"2.0","id":3}`.
fn id_at_the_end(line: &[u8]) -> Found {
    const FIRST: &[u8] = br#","jsonrpc""#;
    let Some(at) = line.windows(FIRST.len()).rposition(|window| window == FIRST) else { return Found::Nothing };
    let mut end = IdScanner::default();
    end.feed(b"{");
    end.feed(&line[at + 1..]);
    if end.state == State::End { end.id } else { Found::Nothing }
}

impl IdScanner {
    pub(super) fn feed(&mut self, piece: &[u8]) {
        for byte in piece {
            self.state = self.next(*byte);
        }
    }

    pub(super) fn hint(self) -> RequestHint {
        let method = match self.method {
            Found::Once(method) if !self.is_answer => method,
            Found::Nothing | Found::Once(_) | Found::Twice => return RequestHint::default(),
        };
        match self.id {
            Found::Once(id) if is_usable(&id) => RequestHint { id, is_call: method == "tools/call" },
            Found::Nothing | Found::Once(_) | Found::Twice => RequestHint::default(),
        }
    }

    fn next(&mut self, byte: u8) -> State {
        match (self.state, byte) {
            (State::Broken, _) => State::Broken,
            (State::String, b'"') => self.keep(byte, State::Closed),
            (State::String, b'\\') => self.keep(byte, State::Escape),
            (State::String | State::Escape, _) => self.keep(byte, State::String),
            (State::Word, b' ' | b'\t' | b'\r') => State::Closed,
            (state, b' ' | b'\t' | b'\r') => state,
            // A byte order mark may come first.
            (State::Start, 0xEF | 0xBB | 0xBF) => State::Start,
            (State::Start, b'{') | (State::Open, b'{' | b'[') => self.open(),
            (State::Start, _) => State::Broken,
            // A second message, perhaps: which of them is to be answered?
            (State::End, _) => {
                self.id = Found::Twice;
                State::Broken
            }
            (State::Open | State::Closed | State::Word, b'}' | b']') => self.close(),
            (State::Closed | State::Word, b',') => self.member_ends(),
            (State::Closed | State::Word, b':') => self.name_ends(),
            (State::Open, b',' | b':') => State::Broken,
            (State::Open, b'"') => self.begin(byte, State::String),
            (State::Open, _) => self.begin(byte, State::Word),
            (State::Closed, _) | (State::Word, b'"' | b'{' | b'[') => State::Broken,
            (State::Word, _) => self.keep(byte, State::Word),
        }
    }

    fn open(&mut self) -> State {
        self.token.clear();
        self.depth += 1;
        State::Open
    }

    fn close(&mut self) -> State {
        if self.depth == 1 {
            self.member_ends();
        }
        self.depth -= 1;
        if self.depth == 0 { State::End } else { State::Closed }
    }

    fn begin(&mut self, byte: u8, state: State) -> State {
        self.token.clear();
        self.keep(byte, state)
    }

    fn keep(&mut self, byte: u8, state: State) -> State {
        if self.depth == 1 && self.token.len() < CAPACITY {
            self.token.push(byte);
        }
        state
    }

    fn name_ends(&mut self) -> State {
        if self.depth == 1 {
            if self.key.is_some() {
                return State::Broken;
            }
            self.key = Some(serde_json::from_slice(&self.token).unwrap_or_default());
            self.token.clear();
        }
        State::Open
    }

    fn member_ends(&mut self) -> State {
        if self.depth == 1
            && let Some(key) = self.key.take()
        {
            match key.as_str() {
                "id" => self.id.find(&self.token),
                "method" => self.method.find(&self.token),
                "result" | "error" => self.is_answer = true,
                _ => {}
            }
        }
        State::Open
    }
}

impl Found {
    /// A token that is no value is something that was found, and nothing that can be used.
    fn find(&mut self, token: &[u8]) {
        *self = match self {
            Self::Nothing => Self::Once(serde_json::from_slice(token).unwrap_or_default()),
            Self::Once(_) | Self::Twice => Self::Twice,
        };
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_id_is_found_where_there_is_no_doubt() {
        for (line, id, is_call) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":"\ud83d"}}"#, json!(7), true),
            (
                r#"{"method":"tools/call","params":{"id":1,"a":"\ud83d\"}],"},"jsonrpc":"2.0","id":"x\"é"}"#,
                json!("x\"é"),
                true,
            ),
            (r#" { "params" : [ { } , [ ] ] , "method" : "ping" , "id" : -3 } "#, json!(-3), false),
            (r#"{"\u0069d":7,"method":"ping","x":NaN}"#, json!(7), false),
            ("{\"id\":7,\"method\":\"ping\",\"x\":\"\0\u{1}\"}", json!(7), false),
            // It ends before its time.
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":"#, json!(7), true),
            (r#"{"jsonrpc":"2.0","method":"tools/call","id":7"#, Value::Null, false),
            (r#"{"jsonrpc":"2.0","id":7,"meth"#, Value::Null, false),
            // It makes no sense in the middle.
            (r#"{"id":7,"method":"tools/call","params":{"a":"say "hi" now","id":8}}"#, json!(7), true),
            (r#"{"method":"tools/call","params":{"a":"say "hi" now"},"jsonrpc":"2.0","id":7}"#, json!(7), true),
            (r#"{"method":"tools/call","params":{"a":"say "hi" now","jsonrpc":"2.0","id":7}}"#, Value::Null, false),
            (r#"{"method":"tools/call","params":{"a":"say "hi" now"},"id":7}"#, Value::Null, false),
            // Only inside, twice, or not usable.
            (r#"{"method":"ping","params":{"id":7}}"#, Value::Null, false),
            (r#"{"method":"ping","params":"\"id\":7"}"#, Value::Null, false),
            (r#"{"id":7,"id":8,"method":"ping"}"#, Value::Null, false),
            (r#"{"id":7,"method":"ping"}{"id":8,"method":"ping"}"#, Value::Null, false),
            (r#"{"id":7.5,"method":"ping"}"#, Value::Null, false),
            (r#"{"id":"\ud83d","method":"ping"}"#, Value::Null, false),
            (r#"{"id":[7],"method":"ping"}"#, Value::Null, false),
            (r#"{"id":{"id":7},"method":"ping"}"#, Value::Null, false),
            (r#"[{"id":7,"method":"ping"}]"#, Value::Null, false),
            ("}", Value::Null, false),
            ("", Value::Null, false),
            // Answers have the ids of another side.
            (r#"{"id":7,"result":{"a":"\ud83d"}}"#, Value::Null, false),
            (r#"{"id":7,"error":{"a":"\ud83d"},"method":"ping"}"#, Value::Null, false),
        ] {
            assert_eq!(recover_id(line.as_bytes()), RequestHint { id, is_call }, "{line}");
        }
    }

    #[test]
    fn next_to_nothing_is_kept() {
        let mut scanner = IdScanner::default();
        scanner.feed(br#"{"method":"tools/call","id":""#);
        for _ in 0..1000 {
            scanner.feed(&[b'7'; 1000]);
        }
        assert!(scanner.token.capacity() <= 2 * CAPACITY);
        scanner.feed(br#""}"#);
        assert_eq!((scanner.state, scanner.hint()), (State::End, RequestHint::default()));
    }
}
