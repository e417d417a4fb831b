//! What every picture needs: colors that a renderer without style sheets knows, and others for a dark page.

use std::collections::BTreeMap;

/// The color on a dark page of each color on a light one, by the style sheet.
fn dark_colors(document: &roxmltree::Document) -> BTreeMap<String, String> {
    let style = document.descendants().find(|node| node.has_tag_name("style")).and_then(|node| node.text());
    let rules = style.expect("it has a style sheet").split("[fill=\"").skip(1);
    let rule = |rule: &str| Some((rule.get(..7)?.to_owned(), rule.split_once("{fill:")?.1.get(..7)?.to_owned()));
    rules.filter_map(rule).collect()
}

/// Every shape has a color of its own that differs from that of the card, on a light page and on a dark one.
pub fn check(name: &str, picture: &str) {
    assert!(!picture.contains("var("), "{name}");
    let document = roxmltree::Document::parse(picture).expect("it is XML");
    let dark = dark_colors(&document);
    let is_shape =
        |node: &roxmltree::Node| ["rect", "text", "circle", "line", "path"].iter().any(|tag| node.has_tag_name(*tag));
    // The card itself comes first.
    let card = document.descendants().find(is_shape).and_then(|card| card.attribute("fill")).expect("a card");
    for node in document.descendants().filter(is_shape).skip(1) {
        // Without a fill a shape is black; a line has none.
        assert!(node.has_tag_name("line") || node.attribute("fill").is_some(), "{name}: {node:?}");
        let paints = ["fill", "stroke"].map(|paint| node.attribute(paint).filter(|paint| *paint != "none"));
        let paints: Vec<&str> = paints.into_iter().flatten().collect();
        let of_dark = |paint: &&str| dark.get(*paint).unwrap_or_else(|| panic!("{name}: no dark {paint}")).as_str();
        let in_dark: Vec<&str> = paints.iter().map(of_dark).collect();
        assert!(paints.iter().any(|paint| *paint != card), "{name}: {node:?} cannot be seen");
        assert!(in_dark.iter().any(|paint| *paint != dark[card]), "{name}: {node:?} cannot be seen in the dark");
        assert!(paints.iter().zip(&in_dark).all(|(light, dark)| light != dark), "{name}: {paints:?}");
    }
}
