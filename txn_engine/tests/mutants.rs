//! The generated files are strong enough: whoever breaks any single rule of the engine is caught by one of them.
//!
//! The mutants are made of the oracle. Since every setup must equal the oracle on the same files (`setups_agree.rs`), one with such
//! a bug would be caught as well.

mod files;

use std::collections::BTreeMap;

use txn_engine::oracle::{Answer, Oracle, process};

fn answer_of_a_mutant(broken: &'static str, input: &[u8]) -> Result<Answer, String> {
    let mut oracle = Oracle::that_breaks(broken);
    oracle.feed(input)?;
    Ok(oracle.finish())
}

/// What the setups are compared by; a mutant that differs only in other ways would not be caught.
fn comparable(answer: Result<Answer, String>) -> Option<Answer> {
    answer.ok().map(|answer| Answer { operations: BTreeMap::new(), ..answer })
}

#[test]
fn breaking_any_rule_changes_the_answer_to_a_generated_file() {
    let mut runner = files::seeded_runner();
    let files: Vec<_> = (0..files::FILES).map(|_| files::draw(&mut runner)).collect();
    let right: Vec<_> = files.iter().map(|file| comparable(process(file))).collect();

    let mut survivors = Oracle::rules_in(&files).expect("generated files have a valid header");
    assert_eq!(survivors.len(), 80, "a rule is never asked for, or goes by two names: {survivors:?}");
    survivors.retain(|rule| {
        files.iter().zip(&right).all(|(file, right)| comparable(answer_of_a_mutant(rule, file)) == *right)
    });
    assert!(survivors.is_empty(), "no generated file notices that these rules are broken: {survivors:?}");
}
