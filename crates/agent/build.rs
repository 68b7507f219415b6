//! Writes the vocabulary of the tokenizer as a file that the program searches where it lies: nothing is built or copied when a
//! process counts its first token.

use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let tokenizer = tiktoken_rs::o200k_base_singleton();
    let mut tokens = Vec::new();
    for rank in 0.. {
        match tokenizer.decode_bytes(&[rank]) {
            Ok(token) => tokens.push((token, u64::from(rank))),
            // Beyond the ordinary tokens are the special ones.
            Err(_) => break,
        }
    }
    assert!(tokens.len() > 199_000, "the vocabulary has {} tokens", tokens.len());
    tokens.sort();
    let map = fst::Map::from_iter(tokens).expect("no token is there twice");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("Cargo names the folder"));
    std::fs::write(folder.join("o200k_base.fst"), map.as_fst().as_bytes()).expect("the vocabulary is written");
}
