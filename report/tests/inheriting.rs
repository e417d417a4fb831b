//! What a form inherits from its claim, a part from its form and a cause from its part; and the controls that follow from it.

use report::claims::{Aim, Asked, Cause, Claims, ControlCase, Form, Kind, Of, Part, Quantity, Replicate};

const CLAIM: &str = "
[[claim]]
id = 'C'
text = 't'
original = 'o'
kind = 'ratio'
ratio = 'a / b'
figure = 1.4
scenarios = ['s']
blocks = { quick = 12, full = 20 }
";

fn read(text: &str) -> Claims {
    let text = format!("schema = 2\nstudy = 'toy'\n{text}");
    Claims::parse(&text, "claims.toml").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A quantity in a line: arms, metric, scenarios, replicate and blocks in quick.
fn measured(quantity: &Quantity) -> String {
    let arms = match &quantity.of {
        Of::Ratio { numerator, denominator } => format!("{numerator}/{denominator}"),
        Of::Value { arm, minus, per, factor, unit } => format!("{arm}-{minus:?}:{per:?}*{factor}{unit}"),
        Of::Each(arms) => arms.join("+"),
    };
    let (scenarios, replicate) = (quantity.scenarios("quick").join("+"), quantity.replicate.into_str());
    format!("{arms} {} {scenarios} {replicate} {}", quantity.metric, blocks(quantity, "quick"))
}

/// A part in a line: kind, quantity, margin, and what is claimed.
fn said(part: &Part) -> String {
    let kind: &str = part.kind.clone().into();
    let more = match &part.kind {
        Kind::Slope { aim: Aim::Band(band), .. } | Kind::Band(band) => format!(" {}..{}", band.lo, band.hi),
        Kind::Slope { aim: Aim::Direction(direction), .. } => format!(" {direction:?}"),
        Kind::Cause { explains, form, .. } => format!(" {explains} {form}"),
        _ => String::new(),
    };
    let figure = part.figure.map_or_else(String::new, |figure| format!(" {}", figure.hi));
    format!("{kind} {} {}{more}{figure}", measured(&part.quantity), part.margin)
}

fn blocks(quantity: &Quantity, profile: &str) -> usize {
    quantity.blocks.get(profile).copied().unwrap_or(0)
}

/// The parts of all claims, each in a line.
fn all_said(claims: &Claims) -> Vec<String> {
    claims.parts().map(|(_, part)| said(part)).collect()
}

#[test]
fn what_a_form_does_not_say_it_inherits_and_what_it_says_wins() {
    let usual = "ratio a/b work_s s process 12 0.05 1.4";
    for (published, expected) in [
        ("{}", usual),
        ("{ ratio = 'c / d' }", "ratio c/d work_s s process 12 0.05 1.4"),
        ("{ scenarios = ['u', 'v'] }", "ratio a/b work_s u+v process 12 0.05 1.4"),
        ("{ scenarios = { quick = ['u'], full = ['v'] } }", "ratio a/b work_s u process 12 0.05 1.4"),
        ("{ blocks = { quick = 6 } }", "ratio a/b work_s s process 6 0.05 1.4"),
        ("{ blocks = { full = 6 } }", "ratio a/b work_s s process 0 0.05 1.4"),
        ("{ figure = 2.0 }", "ratio a/b work_s s process 12 0.05 2"),
        ("{ figure = [8.0, 12.0] }", "ratio a/b work_s s process 12 0.05 12"),
        ("{ kind = 'every' }", "every a/b work_s s process 12 0.05 1.4"),
        // What it inherits and cannot use says nothing.
        ("{ kind = 'equal' }", "equal a/b work_s s process 12 0.05 1.4"),
        ("{ kind = 'band', band = [1, 2], arm = 'c' }", "band c-None:None*1s work_s s process 12 0.05 1..2 1.4"),
        // The margin that nobody says follows from what is measured, and how.
        ("{ replicate = 'duet' }", "ratio a/b work_s s duet 12 0.02 1.4"),
        ("{ metric = 'peak_rss_kib' }", "ratio a/b peak_rss_kib s process 12 0.1 1.4"),
        ("{ metric = 'state_bytes' }", "ratio a/b state_bytes s process 12 0.1 1.4"),
        ("{ metric = 'read_p99_ms' }", "ratio a/b read_p99_ms s process 12 0.1 1.4"),
        ("{ metric = 'read_p50_ms' }", "ratio a/b read_p50_ms s process 12 0.1 1.4"),
        ("{ metric = 'read_max_ms' }", "ratio a/b read_max_ms s process 12 0.1 1.4"),
        ("{ metric = 'read_avg_ms', margin = 0.07 }", "ratio a/b read_avg_ms s process 12 0.07 1.4"),
    ] {
        let claims = read(&format!("{CLAIM}published = {published}\nfair = {{}}\n"));
        assert_eq!(all_said(&claims), [expected, usual], "{published} touches the form that says it and no other");
    }
}

#[test]
fn parts_inherit_from_their_form_and_further_tests_from_the_claim() {
    let claims = read(&format!(
        "{CLAIM}
further = [{{ id = 'F', text = 'f', ratio = 'a / d' }}, {{ id = 'G', text = 'g', part = [{{ figure = 3.0 }}, {{}}] }}]
fair = {{ absent = 'no' }}
[claim.published]
metric = 'user_s'
part = [{{ text = 'one', ratio = 'c / b' }}, {{ text = 'two', scenarios = ['t'], metric = 'system_s' }}, {{}}]
"
    ));
    let expected = [
        "ratio c/b user_s s process 12 0.05 1.4",
        "ratio a/b system_s t process 12 0.05 1.4",
        "ratio a/b user_s s process 12 0.05 1.4",
        "ratio a/d work_s s process 12 0.05 1.4",
        "ratio a/b work_s s process 12 0.05 3",
        "ratio a/b work_s s process 12 0.05 1.4",
    ];
    assert_eq!(all_said(&claims), expected);
    let named: Vec<(&str, &str)> = claims.parts().map(|(id, part)| (id, part.text.as_str())).collect();
    assert_eq!(named, [("C", "one"), ("C", "two"), ("C", ""), ("F", ""), ("G", ""), ("G", "")]);
}

#[test]
fn a_form_that_makes_no_sense_or_has_to_wait_asks_nothing() {
    let claim = "[[claim]]\nid = 'C'\ntext = 't'\noriginal = 'o'\n";
    let claims = read(&format!("{claim}published = {{ absent = 'no' }}\nfair = {{ pending = 'later' }}\n"));
    assert_eq!(claims.claims[0].tests[0].of, Asked::Absent("no".to_owned()));
    assert_eq!(claims.claims[0].tests[1].of, Asked::Pending("later".to_owned()));
    assert_eq!((claims.quantities().count(), claims.controls.len()), (0, 0));
}

#[test]
fn a_slope_keeps_either_its_band_or_its_direction() {
    let claim = CLAIM.replace("kind = 'ratio'", "kind = 'slope'\nx = 'rows_count'\ndirection = 'up'");
    let claim = claim.replace("ratio = 'a / b'", "arms = ['a', 'b']").replace("figure = 1.4\n", "");
    let claims = read(&format!("{claim}published = {{ band = [0.9, 1.1] }}\nfair = {{ arms = ['c'] }}\n"));
    let expected = ["slope a+b work_s s process 12 0.05 0.9..1.1", "slope c work_s s process 12 0.05 Up"];
    assert_eq!(all_said(&claims), expected);
}

/// The causes of the published form, as quantity and bound.
fn causes(form: &str, cause: &str) -> Vec<String> {
    let claims =
        read(&format!("{CLAIM}published = {form}\nfair = {{}}\ncause = [{{ short = 'x', text = 'y', {cause} }}]\n"));
    let bound = |cause: &Cause| {
        let limit = cause.bound.map(report::claims::rules::Band::limit);
        limit.map(|(sign, _, limit)| format!(" {sign} {limit}")).unwrap_or_default()
    };
    let causes = claims.claims[0].tests[0].of.parts()[0].causes.iter();
    causes.map(|cause| measured(&cause.quantity) + &bound(cause)).collect()
}

#[test]
fn a_cause_inherits_the_samples_of_its_part_and_its_arms_only_where_it_has_none() {
    let counter = "metric = 'cpu_s', arm = 'a', at_most = 1";
    for (form, cause, expected) in [
        ("{}", "ratio = 'a / c'", "a/c work_s s process 12"),
        ("{ metric = 'user_s' }", "ratio = 'a / c'", "a/c user_s s process 12"),
        ("{ replicate = 'duet' }", "ratio = 'a / c'", "a/c work_s s duet 12"),
        ("{}", "metric = 'faults_count', at_least = 2", "a/b faults_count s process 12 >= 2"),
        ("{}", &format!("{counter}, per = 'work_s'"), "a-None:Some(\"work_s\")*1ratio cpu_s s process 12 <= 1"),
        // A counter of one arm comes from processes, whatever its claim does.
        ("{ replicate = 'duet' }", counter, "a-None:None*1s cpu_s s process 12 <= 1"),
        // The same blocks as its part, or fewer.
        ("{}", "ratio = 'a / c', blocks = { quick = 6 }", "a/c work_s s process 6"),
        ("{}", "ratio = 'a / c', blocks = { quick = 40 }", "a/c work_s s process 12"),
        ("{ blocks = { quick = 8 } }", "ratio = 'a / c', blocks = { quick = 40 }", "a/c work_s s process 8"),
    ] {
        assert_eq!(causes(form, cause), [expected], "{form} {cause}");
    }
    let own = "{ cause = [{ short = 'own', text = 'z', ratio = 'a / d' }] }";
    // A form with causes does not inherit any.
    assert_eq!(causes(own, "ratio = 'a / c'"), ["a/d work_s s process 12"]);
    assert!(causes("{ cause = [] }", "ratio = 'a / c'").is_empty());
}

#[test]
fn a_value_keeps_what_it_is_divided_by_when_only_its_arm_changes() {
    let claim = CLAIM.replace("kind = 'ratio'", "kind = 'band'\nband = [8, 12]").replace("figure = 1.4\n", "");
    let value = "arm = 'a'\nminus = 'b'\nper = 'hold_s'\nfactor = 1e3\nunit = 'holds'";
    let claims =
        read(&format!("{}published = {{ arm = 'c' }}\nfair = {{}}\n", claim.replace("ratio = 'a / b'", value)));
    let rest = "-Some(\"b\"):Some(\"hold_s\")*1000holds work_s s process 12 0.05 8..12";
    assert_eq!(all_said(&claims), [format!("band c{rest}"), format!("band a{rest}")]);
}

/// The controls as id, arms, metric, scenarios in quick, blocks in quick and full, margin.
fn controls(more: &str) -> Vec<String> {
    let said = |control: &ControlCase| {
        let Of::Ratio { numerator, denominator } = &control.quantity.of else {
            panic!("{control:?}");
        };
        let scenarios = control.quantity.scenarios("quick").join("+");
        let [quick, full] = ["quick", "full"].map(|profile| blocks(&control.quantity, profile));
        format!("{}: {numerator}/{denominator} {scenarios} {} {quick}/{full}", control.id, control.margin)
    };
    read(&format!("{CLAIM}{more}")).controls.iter().map(said).collect()
}

#[test]
fn copies_of_the_denominator_are_compared_and_equal_controls_are_one() {
    let usual = "aa b work_s s: b@aa/b s 0.05 12/20";
    for (published, expected) in [
        ("{}", vec![usual]),
        // The most blocks and the smallest margin of those who ask.
        ("{ blocks = { quick = 30 } }", vec!["aa b work_s s: b@aa/b s 0.05 30/20"]),
        ("{ margin = 0.03 }", vec!["aa b work_s s: b@aa/b s 0.03 12/20"]),
        ("{ kind = 'equal', ratio = 'c / b' }", vec![usual]),
        ("{ kind = 'every', scenarios = ['s', 't'] }", vec!["aa b work_s s +1: b@aa/b s+t 0.05 12/20", usual]),
        ("{ ratio = 'b / c' }", vec!["aa c work_s s: c@aa/c s 0.05 12/20", usual]),
        ("{ metric = 'user_s' }", vec!["aa b user_s s: b@aa/b s 0.05 12/20", usual]),
        ("{ replicate = 'duet' }", vec!["aa b work_s s duet: b/b@aa s 0.02 12/20", usual]),
        // Other arms, less of it, or none at all.
        ("{ aa = 'c' }", vec!["aa c work_s s: c@aa/c s 0.05 12/20", usual]),
        ("{ aa = { scenarios = ['t'] } }", vec!["aa b work_s t: b@aa/b t 0.05 12/20", usual]),
        ("{ aa = { blocks = { quick = 60 } } }", vec!["aa b work_s s: b@aa/b s 0.05 60/20"]),
        (
            "{ aa = { arm = 'c', scenarios = ['t'], blocks = { quick = 6 } } }",
            vec!["aa c work_s t: c@aa/c t 0.05 6/0", usual],
        ),
        ("{ aa = 'none' }", vec![usual]),
        // A range has no floor, but may ask whether the method sees what is not there.
        ("{ kind = 'band', band = [1, 2] }", vec![usual]),
        ("{ kind = 'band', band = [1, 2], arm = 'c', aa = 'c' }", vec!["aa c work_s s: c@aa/c s 0.05 12/20", usual]),
    ] {
        assert_eq!(controls(&format!("published = {published}\nfair = {{}}\n")), expected, "{published}");
    }
    let both = "published = { scenarios = ['s', 't'] }\nfair = { scenarios = ['s', 'u'] }\n";
    let claims = read(&format!("{}{both}", CLAIM.replace("scenarios = ['s']\n", "")));
    let ids: Vec<&str> = claims.controls.iter().map(|control| control.id.as_str()).collect();
    assert_eq!(ids, ["aa b work_s s +1", "aa b work_s s +1 #2"], "ids stay apart");
}

#[test]
fn planted_controls_guard_what_has_a_floor_and_is_measured_alike() {
    let planted = "\n[planted]\nprocess = { arm = 'b', scenarios = ['p'], size = 1.1, blocks = { quick = 36 } }\n\
                   duet = { arm = 'b', scenarios = ['q'], size = 1.04, blocks = { full = 24 } }\n";
    let guards = |published: &str| {
        let claims = read(&format!("{planted}{CLAIM}published = {published}\nfair = {{}}\n"));
        let part = &claims.claims[0].tests[0].of.parts()[0];
        claims.guards(part).map(|control| control.id.clone()).collect::<Vec<_>>()
    };
    let process = ["aa b work_s s", "planted b work_s p"];
    assert_eq!(guards("{}"), process);
    assert_eq!(guards("{ kind = 'equal' }"), process);
    assert_eq!(guards("{ kind = 'every' }"), process);
    assert_eq!(guards("{ replicate = 'duet' }"), ["aa b work_s s duet", "planted b work_s q duet"]);
    assert_eq!(guards("{ aa = 'none' }"), ["planted b work_s p"]);
    assert_eq!(guards("{ kind = 'band', band = [1, 2] }"), Vec::<String>::new());
    let claims = read(&format!("{planted}{CLAIM}published = {{}}\nfair = {{}}\n"));
    let control = claims.control("planted b work_s q duet").expect("it is there");
    assert_eq!((control.planted, control.margin, control.quantity.replicate), (Some(1.04), 0.02, Replicate::Duet));
    assert_eq!(control.quantity.arms(), ["b@slow~b"]);
    assert_eq!(control.quantity.scenarios("full"), ["q"]);
}

#[test]
fn what_explains_another_claim_finds_its_form_or_its_further_test() {
    let named = |explains: &str| {
        let claims = read(&format!(
            "{CLAIM}published = {{}}\nfair = {{}}\nfurther = [{{ id = 'F', text = 'f', ratio = 'a / d' }}]\n\n[[claim]]\nid = 'D'\ntext = 't'\n\
             original = 'o'\nkind = 'cause'\nexplains = '{explains}'\nratio = 'a / c'\n\
             scenarios = ['s']\nblocks = {{ quick = 12 }}\npublished = {{}}\nfair = {{}}\n"
        ));
        let forms = [Form::Published, Form::Fair].map(|form| said(&claims.claims[1].form(form).parts()[0]));
        forms.map(|line| line.replace("cause a/c work_s s process 12 0.05 ", "")).join(", ")
    };
    assert_eq!(named("C"), "C published, C fair");
    assert_eq!(named("C.fair"), "C fair, C fair");
    assert_eq!(named("C.published"), "C published, C published");
    assert_eq!(named("F"), "F published, F fair");
}
