//! The generated files are strong enough: whoever breaks any single rule of the engine is caught by one of them.
//!
//! The mutants are made of the oracle. Since every arm must equal the oracle on the same files (`arms_agree.rs`), an arm with such
//! a bug would be caught as well.

mod files;

use std::collections::BTreeMap;

use txn_engine::oracle::{Answer, Oracle, Rule, process};

fn answer_of_a_mutant(broken: Rule, input: &[u8]) -> Result<Answer, String> {
    let mut oracle = Oracle::that_breaks(broken);
    oracle.feed(input)?;
    Ok(oracle.finish())
}

/// What the arms are compared by; a mutant that differs only in other ways would not be caught.
fn comparable(answer: Result<Answer, String>) -> Option<Answer> {
    answer.ok().map(|answer| Answer { operations: BTreeMap::new(), ..answer })
}

#[test]
fn breaking_any_rule_changes_the_answer_to_a_generated_file() {
    let mut runner = files::seeded_runner();
    let files: Vec<_> = (0..files::FILES).map(|_| files::draw(&mut runner)).collect();
    let right: Vec<_> = files.iter().map(|file| comparable(process(file))).collect();

    let survivors: Vec<_> = Rule::ALL
        .iter()
        .filter(|&&rule| {
            files.iter().zip(&right).all(|(file, right)| comparable(answer_of_a_mutant(rule, file)) == *right)
        })
        .collect();
    assert!(survivors.is_empty(), "no generated file notices that these rules are broken: {survivors:?}");
}
