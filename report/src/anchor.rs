//! Names that a link may hold.

/// An anchor made of letters, digits and dashes: `("txn_engine", "T1")` is `txn_engine-t1`.
pub fn anchor(study: &str, id: &str) -> String {
    let keep = |raw: &str| -> String {
        raw.chars()
            .map(|part| if part.is_ascii_alphanumeric() || part == '_' { part.to_ascii_lowercase() } else { '-' })
            .collect()
    };
    if id.is_empty() { keep(study) } else { format!("{}-{}", keep(study), keep(id)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_hold_only_what_a_link_may_hold() {
        assert_eq!(anchor("txn_engine", "T1"), "txn_engine-t1");
        assert_eq!(anchor("a b", "x|y"), "a-b-x-y");
    }
}
