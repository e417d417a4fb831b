//! The plots as files: their names, what they show, and what is said when they cannot be written.

#![cfg(feature = "plot")]

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use flight_batches::plot::draw;
use flight_batches::results::{self, Row};
use tempfile::TempDir;

fn row(server: &str, delay: f64, records: usize, requests: usize) -> Row {
    Row {
        records_per_batch: records,
        concurrent_requests: requests,
        batch_generation_delay: delay,
        average_latency: Some(0.05),
        throughput_mb_per_s: 1_900.0,
        server: server.to_owned(),
        ..Row::default()
    }
}

/// A whole grid: rates that saturate near 2,000 MB/s, close to each other.
fn grid(kinds: &[&str], delays: &[f64]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (position, kind) in (0_u8..).zip(kinds) {
        for delay in delays {
            for records in [1_000_u16, 5_000, 10_000] {
                for requests in [10_u16, 100, 500, 1_000, 2_000] {
                    let ideal = f64::from(requests) * f64::from(records) * 4e-4 / delay.max(1e-4);
                    let most = 2_050.0 - 90.0 * f64::from(position) - 0.03 * f64::from(requests);
                    let rate = most * (1.0 - (-ideal / most).exp());
                    rows.push(Row {
                        throughput_mb_per_s: rate,
                        average_latency: Some(f64::from(requests) * 400.0 / rate),
                        ideal_mb_per_s: Some(ideal),
                        ..row(kind, *delay, records.into(), requests.into())
                    });
                }
            }
        }
    }
    rows
}

/// The folder with their plots.
fn drawn(rows: &[Row]) -> TempDir {
    let folder = TempDir::new().unwrap();
    draw(rows, folder.path()).unwrap();
    folder
}

fn svg(folder: &TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

fn files(folder: &TempDir) -> HashSet<PathBuf> {
    fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// The texts of an SVG, in order.
fn texts(svg: &str) -> Vec<String> {
    let parts = svg.split("<text ").skip(1);
    parts.map(|part| part[part.find('>').unwrap() + 1..part.find("</text>").unwrap()].trim().to_owned()).collect()
}

const ASYNC: &str = "#0072B2";
const SYNC: &str = "#D55E00";

/// Width and height of a PNG, and three bytes per pixel.
fn decode(file: &Path) -> ((u32, u32), Vec<u8>) {
    let mut reader = png::Decoder::new(fs::File::open(file).unwrap()).read_info().unwrap();
    assert_eq!(reader.output_color_type(), (png::ColorType::Rgb, png::BitDepth::Eight));
    let mut pixels = vec![0; reader.output_buffer_size()];
    reader.next_frame(&mut pixels).unwrap();
    (reader.info().size(), pixels)
}

#[test]
fn a_file_is_named_by_what_it_shows_and_by_its_delay() {
    // Delays that differ in the last bit share a plot.
    let rows = [0.3, 0.1 + 0.2, 0.0005, 0.0].map(|delay| row("async", delay, 1_000, 10));
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("throughput_0ms.svg"), "from before").unwrap();
    let drawn = draw(&rows, folder.path()).unwrap();
    let expected: Vec<PathBuf> = ["0ms", "0.5ms", "300ms"]
        .iter()
        .flat_map(|delay| ["throughput", "latency"].map(|quantity| format!("{quantity}_{delay}")))
        .flat_map(|name| ["png", "svg"].map(|format| folder.path().join(format!("{name}.{format}"))))
        .collect();
    assert_eq!(drawn, expected);
    assert_eq!(files(&folder), HashSet::from_iter(expected), "and nothing else is left in the folder");
    assert!(texts(&svg(&folder, "latency_0.5ms.svg")).contains(&"Average latency, 0.5 ms per batch".to_owned()));
    assert!(texts(&svg(&folder, "throughput_0ms.svg")).contains(&"Throughput, no delay".to_owned()));
    // A single row is a plot.
    for name in ["throughput_0ms", "latency_0ms"] {
        assert!(svg(&folder, &format!("{name}.svg")).contains(ASYNC));
        assert_eq!(decode(&folder.path().join(format!("{name}.png"))).0, (1_400, 840));
    }
}

#[test]
fn a_plot_shows_servers_sizes_requests_and_the_ideal() {
    let folder = drawn(&grid(&["async", "sync"], &[0.0001, 0.1]));
    for (name, y_tick, ideals) in [("throughput_100ms", "1,600", 3), ("latency_100ms", "20s", 0)] {
        let (size, pixels) = decode(&folder.path().join(format!("{name}.png")));
        assert_eq!(size, (1_400, 840), "{name}");
        let seen: HashSet<&[u8]> = pixels.chunks_exact(3).collect();
        let svg = svg(&folder, &format!("{name}.svg"));
        for colour in [ASYNC, SYNC] {
            let number = u32::from_str_radix(&colour[1..], 16).unwrap().to_be_bytes();
            assert!(seen.contains(&number[1..]), "{colour} in {name}");
            assert!(svg.contains(colour), "{colour} in {name}");
        }
        let texts = texts(&svg);
        let sizes = ["10,000 rows per batch", "5,000 rows per batch", "1,000 rows per batch"];
        let is_entry = |text: &&String| ["async", "sync"].contains(&text.as_str()) || text.ends_with("per batch");
        let legend: Vec<_> = texts.iter().skip(1).filter(is_entry).collect();
        assert_eq!(legend, [["async"].as_slice(), &sizes, &["sync"], &sizes].concat());
        for tick in ["10", "100", "500", "1,000", "2,000", y_tick] {
            assert!(texts.contains(&tick.to_owned()), "{tick} in {texts:?}");
        }
        assert!(!texts.contains(&"50".to_owned()), "only requests that occur: {texts:?}");
        assert_eq!(texts.iter().filter(|text| text.starts_with("ideal, ")).count(), ideals, "{name}");
    }
    // An ideal is drawn only where the data are.
    assert!(!svg(&folder, "throughput_0.1ms.svg").contains("ideal, "));
}

#[test]
fn failures_are_crossed_out_and_counted() {
    /// The colour of crosses.
    const INK: &str = "stroke=\"#1F2328\"";
    let mut rows = grid(&["async", "sync"], &[0.01, 0.1]);
    rows[4].failures = 7;
    rows[35].failures = 1;
    let folder = drawn(&rows);
    for name in ["throughput_10ms.svg", "latency_10ms.svg"] {
        let svg = svg(&folder, name);
        assert_eq!(svg.matches(INK).count(), 2 * 2, "two crosses in {name}");
        assert!(texts(&svg).contains(&"× failures in 2 cells".to_owned()));
    }
    assert!(!svg(&folder, "latency_100ms.svg").contains(INK));
}

#[test]
fn cells_without_a_value_are_left_out_and_counted() {
    let mut rows = grid(&["async"], &[0.01]);
    (rows[0].average_latency, rows[1].average_latency) = (None, Some(f64::NAN));
    rows[2].throughput_mb_per_s = f64::MAX;
    let folder = drawn(&rows);
    let texts_of = |name: &str| texts(&svg(&folder, name)).join(" ");
    assert!(texts_of("latency_10ms.svg").contains("without a value: 2 cells"), "{}", texts_of("latency_10ms.svg"));
    assert!(texts_of("throughput_10ms.svg").contains("without a value: 1 cell"), "{}", texts_of("throughput_10ms.svg"));
    for row in &mut rows {
        row.average_latency = None;
    }
    let folder = drawn(&rows);
    let texts = texts(&svg(&folder, "latency_10ms.svg"));
    assert!(texts.contains(&"without a value: 15 cells".to_owned()), "{texts:?}");
}

#[test]
fn names_of_any_kind_length_and_number_are_text_in_the_legend() {
    let odd = ["http://[::1]:1/<a&b>'\"\u{1}", "", "an endpoint with a name that is much too long for a legend"];
    let kinds = [&odd[..], &["a", "b", "c", "d", "e", "f"]].concat();
    let folder = drawn(&grid(&kinds, &[0.01]));
    let svg = svg(&folder, "throughput_10ms.svg");
    let texts = texts(&svg);
    assert!(texts.contains(&"http://[::1]:1/&lt;a&amp;b&gt;&apos;&quot;".to_owned()), "{texts:?}");
    assert!(texts.iter().any(|text| text.starts_with("an endpoint") && text.ends_with('…')), "{texts:?}");
    assert!(!svg.contains('\u{1}'));
    // A long legend makes the picture higher.
    let ((width, height), _) = decode(&folder.path().join("throughput_10ms.png"));
    assert!(width == 1_400 && height > 1_300, "{height}");
}

#[test]
fn results_are_read_as_they_were_written() {
    let mut rows = grid(&["async", "sync"], &[0.001, 0.0005]);
    rows[0] = Row {
        latency_p50: Some(0.25),
        gap_p99: Some(1e-6),
        failures: 3,
        first_failure: "status: \"Unavailable\", a comma,\nand a second line".to_owned(),
        ..rows[0].clone()
    };
    (rows[1].average_latency, rows[1].ideal_mb_per_s) = (None, None);
    let mut writer = csv::Writer::from_writer(Vec::new());
    rows.iter().try_for_each(|row| writer.serialize(row)).unwrap();
    let text = writer.into_inner().unwrap();
    assert_eq!(results::read(text.as_slice()).unwrap(), rows);
}

#[test]
fn what_cannot_be_written_is_named_and_leaves_nothing_behind() {
    let folder = TempDir::new().unwrap();
    let taken = folder.path().join("throughput_10ms.svg");
    fs::create_dir_all(taken.join("something")).unwrap();
    let rows = [row("async", 0.01, 1_000, 10)];
    let error = draw(&rows, folder.path()).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot write {}", taken.display()));
    let png = folder.path().join("throughput_10ms.png");
    let below = png.join("plots");
    assert_eq!(files(&folder), HashSet::from([png, taken]));
    let error = draw(&rows, &below).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot create the folder {}", below.display()));
}
